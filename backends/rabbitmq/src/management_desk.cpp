#include "management_desk.hpp"

#include <utility>

#include "control.hpp"

namespace shove::rabbitmq_backend {
namespace {

management_options options_of(const rabbitmq::config& settings) {
    management_options made;
    made.url = settings.management;
    const bool own = !settings.management_user.empty();
    made.user = own ? settings.management_user : settings.user;
    made.password = own ? settings.management_password : settings.password;
    made.virtual_host = settings.virtual_host;
    made.ca_file = settings.ca_file;
    made.verify_peer = settings.verify_peer;
    made.connect_timeout = settings.connect_timeout;
    return made;
}

}  // namespace

management_desk::management_desk(const rabbitmq::config& settings) {
    auto made = management::make(options_of(settings));
    if (made) {
        client_ = std::move(*made);
    } else {
        no_client_ = made.error();
    }
}

management_desk::~management_desk() {
    finish();
}

void management_desk::ask(unique_function<void(management&)> what, unique_function<void(const error&)> refused) {
    error why = no_client_;
    {
        const std::lock_guard lock(mutex_);
        if (shut_) why = closed_error();
        if (!why) {
            auto& next = questions_.emplace_back();
            next.what = std::move(what);
            std::swap(next.refused, refused);
            if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        }
    }
    if (why) return refused(why);
    changed_.notify_one();
}

void management_desk::run() {
    for (;;) {
        question next;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return shut_ || !questions_.empty(); });
            if (shut_) return;
            next = std::move(questions_.front());
            questions_.pop_front();
        }
        next.what(*client_);
    }
}

void management_desk::shut() {
    std::deque<question> refused;
    {
        const std::lock_guard lock(mutex_);
        shut_ = true;
        refused.swap(questions_);
    }
    changed_.notify_all();
    if (client_) client_->stop();
    for (auto& each : refused)
        each.refused(closed_error());
}

void management_desk::finish() {
    shut();
    if (thread_.joinable()) thread_.join();
}

}  // namespace shove::rabbitmq_backend
