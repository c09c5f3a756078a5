#pragma once

#include <shove/error.hpp>

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

namespace shove::kafka_backend {

/// Why a message was not stored in a topic.
/// @param sent  It may have been stored all the same.
error publish_error(const std::string& topic, rd_kafka_resp_err_t why, bool sent = false);

/// Why something else did not happen.
/// @param what  What was tried: names the topic or group.
error broker_error(const std::string& what, rd_kafka_resp_err_t why, std::string_view detail = {});

/// The same of a code that may mean success: then it is no error.
error error_of(rd_kafka_resp_err_t why, const std::string& what, std::string_view detail = {});

}  // namespace shove::kafka_backend
