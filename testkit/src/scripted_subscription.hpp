#pragma once

#include <shove/testkit/scripted_driver.hpp>

#include <algorithm>
#include <utility>

namespace shove::testkit {

/// One consumer's side.
class scripted_driver::scripted_subscription final : public spi::subscription,
                                                     public std::enable_shared_from_this<scripted_subscription> {
public:
    scripted_subscription(std::shared_ptr<scripted_driver> driver, const spi::source& from)
        : driver_(std::move(driver)),
          queue_(from.dead_letters ? from.topology->dead_letter_queue : from.topology->reader_queue),
          prefetch_(from.prefetch) {}

    void receive(std::size_t max, receive_done done) override {
        driver_->log_.add("receive " + std::to_string(max));
        if (const auto action = driver_->current().receive) action();
        error failure;
        {
            const std::lock_guard lock(driver_->mutex_);
            if (waiting_) driver_->breach("a second receive at a time");
            if (closed_) driver_->breach("receive after close");
            if (max == 0 || held() + max > prefetch_)
                driver_->breach("receive beyond prefetch: " + std::to_string(max));
            if (driver_->receive_failures_ > 0) {
                --driver_->receive_failures_;
                failure = driver_->receive_error_;
            } else {
                max_ = max;
                waiting_ = std::move(done);
            }
        }
        if (failure) return done(failure);
        driver_->serve();
    }

    void cancel_receive() override {
        driver_->log_.add("cancel_receive");
        receive_done cancelled;
        {
            const std::lock_guard lock(driver_->mutex_);
            cancelled = std::exchange(waiting_, nullptr);
        }
        if (cancelled) cancelled(error(errc::cancelled));
    }

    void settle(std::vector<spi::settlement> batch, settle_done done) override {
        driver_->log_.add("settle " + std::to_string(batch.size()));
        driver_->batches_.add(batch.size());
        {
            const std::lock_guard lock(driver_->mutex_);
            if (settling_) driver_->breach("a second settle at a time");
            if (closed_) driver_->breach("settle after close");
            if (batch.empty()) driver_->breach("settle of nothing");
            settling_ = true;
        }
        driver_->settle_batch(queue_, std::move(batch),
                              [self = shared_from_this(), done = std::move(done)](auto failed) mutable {
                                  self->settled();
                                  done(std::move(failed));
                              });
    }

    void extend(std::vector<std::uint64_t> tags, spi::callback<void(std::vector<std::uint64_t>)> done) override {
        driver_->log_.add("extend " + std::to_string(tags.size()));
        const auto answer = driver_->current().extend;
        auto lost = answer ? answer(tags) : std::vector<std::uint64_t>();
        for (const auto tag : lost)
            lose(tag);
        done(std::move(lost));
    }

    void isolate(std::uint64_t tag, spi::callback<void(error)> done) override {
        driver_->log_.add("isolate " + std::to_string(tag));
        const auto answer = driver_->current().isolate;
        const auto why = answer ? answer(tag) : error();
        if (why == errc::lease_lost) lose(tag);
        done(why);
    }

    void close(spi::callback<void(error)> done) override {
        driver_->log_.add("close_subscription");
        {
            const std::lock_guard lock(driver_->mutex_);
            if (closed_) driver_->breach("a subscription closed twice");
            if (waiting_ || settling_) driver_->breach("close with an operation under way");
            closed_ = true;
        }
        done({});
    }

    // With the driver's lock held.
    bool wants() const noexcept { return static_cast<bool>(waiting_); }
    std::size_t max() const noexcept { return max_; }
    const std::string& queue() const noexcept { return queue_; }
    receive_done take_receive() { return std::exchange(waiting_, nullptr); }

private:
    std::size_t held() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(driver_->out_, [this](const auto& out) { return out.second == this; }));
    }
    void settled() {
        const std::lock_guard lock(driver_->mutex_);
        settling_ = false;
    }
    void lose(std::uint64_t tag) {
        const std::lock_guard lock(driver_->mutex_);
        driver_->out_.erase(tag);
        driver_->lost_.insert(tag);
    }

    const std::shared_ptr<scripted_driver> driver_;
    const std::string queue_;
    const std::size_t prefetch_;
    std::size_t max_ = 0;
    receive_done waiting_;
    bool settling_ = false;
    bool closed_ = false;
};

}  // namespace shove::testkit
