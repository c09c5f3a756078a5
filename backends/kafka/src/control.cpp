#include "control.hpp"

#include <utility>

namespace shove::kafka_backend {

control::control(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on)
    : settings_(std::move(settings)), on_(std::move(on)) {}

void control::ask(unique_function<void(rd_kafka_t*)> what, unique_function<void(const error&)> refused) {
    auto no = std::make_shared<unique_function<void(const error&)>>(std::move(refused));
    auto run = [this, what = std::move(what), no]() mutable {
        if (!client_) {
            auto made = handle::make(settings_, role::asking, {}, on_);
            if (!made) return (*no)(made.error());
            client_ = std::move(*made);
        }
        what(client_->get());
    };
    desk_.ask(std::move(run), [no](const error& why) { (*no)(why); });
}

void control::finish() {
    desk_.finish();
    client_.reset();
}

}  // namespace shove::kafka_backend
