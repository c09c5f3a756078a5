#include "queue.hpp"

#include <algorithm>

namespace shove::in_memory {

errc queue::feed(queue& other) {
    std::lock_guard guard(lock_);
    if (closed_) return errc::closed;
    if (std::find(feeds_.begin(), feeds_.end(), &other) != feeds_.end()) return errc::ok;
    queue* nobody = nullptr;
    if (!other.feeder_.compare_exchange_strong(nobody, this)) return errc::invalid_topology;
    feeds_.push_back(&other);
    feeding_ = true;
    return errc::ok;
}

void queue::stop_feeding(queue& other) {
    completions due;
    {
        std::lock_guard guard(lock_);
        std::erase(feeds_, &other);
        feeding_ = !feeds_.empty();
        match(due);  // it may have been the one without room
    }
    due.run();
}

errc queue::fill_all(store_batch& batch, completions& due) {
    std::vector<std::unique_lock<spin_mutex>> locks;
    locks.reserve(feeds_.size());
    for (queue* each : feeds_)
        locks.emplace_back(each->lock_);
    const errc cause = share(batch);
    // Said before their locks go: who makes room after that sees it.
    if (cause == errc::queue_full) starved_ = true;
    for (queue* each : feeds_)
        each->match(due);
    return cause;
}

errc queue::share(store_batch& batch) {
    const bool keeps = kind_ == kind::store;
    while (!batch.complete()) {
        const auto& next = batch.messages[batch.stored];
        if (!next.msg) return errc::invalid_argument;
        const std::size_t bytes = room_.weigh(next.msg);
        if (room_.never_fits(bytes)) return errc::too_large;
        const bool fits = std::all_of(feeds_.begin(), feeds_.end(), [&](queue* f) { return f->room_.fits(bytes); });
        if (!fits || (keeps && !room_.fits(bytes))) return errc::queue_full;
        for (queue* each : feeds_)
            each->place_copy(next);
        if (keeps) {
            room_.enter(bytes);
            place_next(batch);
        } else {
            ++batch.stored;
        }
    }
    return errc::ok;
}

void queue::place_copy(const spi::outgoing& what) {
    room_.enter(room_.weigh(what.msg));
    message copy = what.msg;  // shares the bytes
    if (what.delay <= milliseconds(0)) return ready_.push_back(std::move(copy), nullptr);
    delayed_.push(after(what.delay), {std::move(copy), nullptr});
}

void queue::tell_feeder() {
    queue* feeder = feeder_.load(std::memory_order_acquire);
    if (feeder && feeder->starved_.load(std::memory_order_acquire)) feeder->look_again();
}

void queue::look_again() {
    completions due;
    {
        std::lock_guard guard(lock_);
        match(due);
    }
    due.run();
}

}  // namespace shove::in_memory
