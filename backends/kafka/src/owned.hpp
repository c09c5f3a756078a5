#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace shove::kafka_backend {

/// Has a function of the client library end what it made.
template <auto Destroy>
struct destroyed_by {
    template <class T>
    void operator()(T* what) const noexcept {
        Destroy(what);
    }
};

using owned_queue = std::unique_ptr<rd_kafka_queue_t, destroyed_by<rd_kafka_queue_destroy>>;
using owned_event = std::unique_ptr<rd_kafka_event_t, destroyed_by<rd_kafka_event_destroy>>;
using owned_error = std::unique_ptr<rd_kafka_error_t, destroyed_by<rd_kafka_error_destroy>>;
using owned_headers = std::unique_ptr<rd_kafka_headers_t, destroyed_by<rd_kafka_headers_destroy>>;
using owned_message = std::unique_ptr<rd_kafka_message_t, destroyed_by<rd_kafka_message_destroy>>;
using owned_topic = std::unique_ptr<rd_kafka_topic_t, destroyed_by<rd_kafka_topic_destroy>>;
using owned_partitions =
    std::unique_ptr<rd_kafka_topic_partition_list_t, destroyed_by<rd_kafka_topic_partition_list_destroy>>;

inline owned_partitions make_partitions(std::size_t room) {
    return owned_partitions(rd_kafka_topic_partition_list_new(static_cast<int>(room)));
}

}  // namespace shove::kafka_backend
