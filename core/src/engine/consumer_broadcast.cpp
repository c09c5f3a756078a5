#include "broker_core.hpp"
#include "consumer.hpp"

// A subscriber of a broadcast holds one message at a time. What it defers it keeps, so that nothing behind it comes
// first, and so that no other subscriber notices.

namespace shove::detail {

/// Keeps a deferred message for its next call. With the lock held.
void consumer::hold_up(spi::settlement deferred) {
    auto& item = deferred.item;
    item.redelivered = true;
    if (phase_ != phase::running) return release(std::move(item));
    ++item.deliveries;
    ready_.push_front(std::move(item));
    held_up_ = true;
    after(deferred.delay, &consumer::go_on);
}

void consumer::go_on() {
    {
        lock_type lock(mutex_);
        held_up_ = false;
    }
    pump();
}

}  // namespace shove::detail
