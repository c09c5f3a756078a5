#pragma once

#include <array>
#include <string>

#include "cluster.hpp"

namespace shove::kafka_backend {

using owned_options = std::unique_ptr<rd_kafka_AdminOptions_t, destroyed_by<rd_kafka_AdminOptions_destroy>>;

template <class Begin>
result<owned_event> cluster::answer(rd_kafka_admin_op_t what, const std::string& for_whom, Begin&& begin) const {
    const owned_options options(rd_kafka_AdminOptions_new(client_, what));
    std::array<char, 256> text{};
    rd_kafka_AdminOptions_set_request_timeout(options.get(), patience_, text.data(), text.size());
    // Of making topics: the answer comes when they are there, not when that was begun. Others have no such option.
    rd_kafka_AdminOptions_set_operation_timeout(options.get(), patience_, text.data(), text.size());
    const owned_queue queue(rd_kafka_queue_new(client_));
    begin(options.get(), queue.get());
    // The request's own timeout ends the wait; this one is for a library that forgets.
    owned_event told(rd_kafka_queue_poll(queue.get(), 2 * patience_ + 1000));
    if (!told) return error(errc::timed_out, for_whom + ": no answer from Kafka");
    if (const auto code = rd_kafka_event_error(told.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        const char* words = rd_kafka_event_error_string(told.get());
        return error_of(code, for_whom, words ? words : "");
    }
    return told;
}

/// The first failure among the answers for several topics.
inline error first_failure(const rd_kafka_topic_result_t* const* results, std::size_t count,
                           rd_kafka_resp_err_t is_none = RD_KAFKA_RESP_ERR_NO_ERROR) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto code = rd_kafka_topic_result_error(results[i]);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == is_none) continue;
        const char* words = rd_kafka_topic_result_error_string(results[i]);
        return error_of(code, "topic '" + std::string(rd_kafka_topic_result_name(results[i])) + "'",
                        words ? words : "");
    }
    return {};
}

}  // namespace shove::kafka_backend
