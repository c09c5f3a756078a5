#pragma once

#include <librdkafka/rdkafka.h>

#include "record.hpp"

namespace shove::kafka_backend {

/// A record as the client library gives it; views into its memory.
record_view view_of(const rd_kafka_message_t& from);

}  // namespace shove::kafka_backend
