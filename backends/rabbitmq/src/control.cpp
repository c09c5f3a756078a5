#include "control.hpp"

#include <amqp.h>

#include <algorithm>
#include <utility>

namespace shove::rabbitmq_backend {

amqp_channel_t ask_channel::number() {
    if (number_ == 0) number_ = on_.open_channel();
    return number_;
}

void ask_channel::close() {
    if (number_ != 0) on_.close_channel(std::exchange(number_, amqp_channel_t{0}));
}

error closed_error() {
    return {errc::closed, "the broker was closed"};
}

control::control(std::shared_ptr<const rabbitmq::config> settings, std::string purpose)
    : link_(std::move(settings), std::move(purpose), *this) {}

control::~control() {
    shut();
}

void control::post(control_job job) {
    {
        const std::lock_guard lock(mutex_);
        if (!shut_) {
            jobs_.push_back(std::move(job));
            job = {};
        }
    }
    if (job.fail) return job.fail(closed_error());
    link_.start();
    link_.wake();
}

void control::shut() {
    std::deque<control_job> refused;
    {
        const std::lock_guard lock(mutex_);
        shut_ = true;
        refused.swap(jobs_);
    }
    for (auto& job : refused)
        job.fail(closed_error());
    link_.stop();
}

void control::connected(connection& on) {
    channel_ = std::make_unique<ask_channel>(on);
}

void control::frame(connection& on, amqp_frame_t& what) {
    const bool closed = what.frame_type == AMQP_FRAME_METHOD && what.payload.method.id == AMQP_CHANNEL_CLOSE_METHOD;
    if (closed) {
        on.channel_gone(what.channel);
        channel_->is(what.channel) ? channel_->gone() : channel_->end_life();
    }
    on.forget_frames(what.channel);
}

void control::work(connection& on) {
    while (auto job = take()) {
        try {
            job->run(*channel_);
        } catch (const channel_failed& failed) {
            channel_->gone();
            job->fail(failed.cause);
        } catch (const connection_failed& failed) {
            job->fail(failed.cause);
            throw;
        }
    }
    (void)on;
}

std::optional<control_job> control::take() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    const auto next = std::ranges::find_if(jobs_, [&](const auto& job) { return job.not_before <= now; });
    if (next == jobs_.end()) return std::nullopt;
    auto job = std::move(*next);
    jobs_.erase(next);
    return job;
}

std::optional<steady_time> control::due() const {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    auto first = steady_time::max();
    for (const auto& job : jobs_) {
        first = std::min(first, job.deadline);
        if (job.not_before > now) first = std::min(first, job.not_before);
    }
    return first == steady_time::max() ? std::nullopt : std::optional(first);
}

void control::lost(const error&) {
    channel_.reset();
}

void control::waiting(const error& why) {
    std::deque<control_job> late;
    {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        // What no patience helps with is told at once.
        const bool hopeless = !is_retryable(why.code);
        for (auto it = jobs_.begin(); it != jobs_.end();) {
            if (!hopeless && it->deadline > now) {
                ++it;
                continue;
            }
            late.push_back(std::move(*it));
            it = jobs_.erase(it);
        }
    }
    for (auto& job : late)
        job.fail(why);
}

}  // namespace shove::rabbitmq_backend
