#include "ending.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

void ending::wait(steady_time deadline, clock& time, spi::callback<void(error)> done) {
    std::unique_lock lock(guard_);
    if (reached_) {
        lock.unlock();
        return done({});
    }
    const auto ticket = ++last_ticket_;
    waiting_.push_back({ticket, std::move(done)});
    lock.unlock();
    // The timer stays when the end comes first; then it finds nobody.
    if (deadline != steady_time::max()) {
        time.call_at(deadline, [self = shared_from_this(), ticket] { self->expire(ticket); });
    }
}

void ending::reached() {
    std::list<waiting> all;
    {
        const std::lock_guard lock(guard_);
        reached_ = true;
        all.swap(waiting_);
    }
    for (auto& one : all)
        one.done({});
}

void ending::expire(std::uint64_t ticket) {
    spi::callback<void(error)> late;
    {
        const std::lock_guard lock(guard_);
        const auto place =
            std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& w) { return w.ticket == ticket; });
        if (place == waiting_.end()) return;
        late = std::move(place->done);
        waiting_.erase(place);
    }
    *hurry_ = true;
    late({errc::timed_out, "'" + path_ + "' was not closed by the deadline; it is closed as soon as its disk answers"});
}

}  // namespace shove::sqlite_backend
