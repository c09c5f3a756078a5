#include "control.hpp"

#include <utility>

namespace shove::kafka_backend {

control::control(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on)
    : settings_(std::move(settings)), on_(std::move(on)) {}

error control::open() {
    auto made = handle::make(settings_, role::asking, {}, on_);
    if (!made) return made.error();
    client_ = std::move(*made);
    client_->watch(owned_queue(rd_kafka_queue_get_main(client_->get())),
                   [this](rd_kafka_queue_t* events) { hear(events); });
    return {};
}

void control::ask(unique_function<void(rd_kafka_t*)> what, unique_function<void(const error&)> refused) {
    desk_.ask([this, what = std::move(what)]() mutable { what(client_->get()); }, std::move(refused));
}

void control::hear(rd_kafka_queue_t* events) {
    while (const owned_event told{rd_kafka_queue_poll(events, 0)}) {
        if (rd_kafka_event_type(told.get()) != RD_KAFKA_EVENT_ERROR) continue;
        const auto code = rd_kafka_event_error(told.get());
        if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) continue;  // says less than what came before it
        const std::lock_guard lock(mutex_);
        last_ = error_of(code, "the client says", rd_kafka_event_error_string(told.get()));
    }
}

error control::explained(error why) const {
    const bool unreached = why == errc::not_connected || why == errc::timed_out;
    const std::lock_guard lock(mutex_);
    if (!unreached || !last_) return why;
    if (last_ == errc::invalid_argument) why.code = last_.code;  // to try again is no remedy
    why.detail += "; " + last_.detail;
    return why;
}

void control::finish() {
    desk_.finish();
    client_.reset();
}

}  // namespace shove::kafka_backend
