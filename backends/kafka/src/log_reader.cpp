#include "log_reader.hpp"

#include <chrono>

namespace shove::kafka_backend {

error log_reader::read(const std::string& topic, partition which, std::int64_t from, std::int64_t until,
                       const std::function<bool(const rd_kafka_message_t&)>& show) {
    if (from >= until) return {};
    if (!client_) {
        client_options how;
        how.tells_end = true;
        auto made = handle::make(settings_, role::consuming, how, on_);
        if (!made) return made.error();
        client_ = std::move(*made);
        rd_kafka_poll_set_consumer(client_->get());
    }
    auto* client = client_->get();
    const auto where = make_partitions(1);
    rd_kafka_topic_partition_list_add(where.get(), topic.c_str(), which)->offset = from;
    const auto what = "reading topic '" + topic + "' partition " + std::to_string(which);
    if (auto cause = error_of(rd_kafka_assign(client, where.get()), what)) return cause;
    error failed(errc::timed_out, what + ": nothing came");
    auto patient = std::chrono::steady_clock::now() + settings_->connect_timeout;
    while (std::chrono::steady_clock::now() < patient) {
        const owned_message got(rd_kafka_consumer_poll(client, 100));
        if (!got) continue;
        if (got->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            failed = {};
            break;
        }
        if (got->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            failed = error_of(got->err, what, rd_kafka_message_errstr(got.get()));
            if (!is_retryable(failed.code)) break;
            continue;
        }
        if (got->offset >= until || !show(*got) || got->offset + 1 >= until) {
            failed = {};
            break;
        }
        patient = std::chrono::steady_clock::now() + settings_->connect_timeout;
    }
    rd_kafka_assign(client, nullptr);
    return failed;
}

}  // namespace shove::kafka_backend
