#include "respawn.hpp"

#include <algorithm>
#include <utility>

namespace shove::decide {

void respawn::succeed(action& done) noexcept {
    round_.reset();
    streak_ = 0;
    wait_.reset();
    if (std::exchange(open_, false)) done.what = event::closed;
}

void respawn::fail(action& done) noexcept {
    round_.reset();
    ++streak_;
    if (open_ || streak_ < times_.rounds_to_open) return;
    open_ = true;
    done.what = event::opened;
}

/// Looks at a round that is under way; true: it still is.
bool respawn::judge_round(steady_time now, std::uint32_t live, action& done) {
    if (!round_) return false;
    if (live < round_->goal) {
        fail(done);
    } else if (now - round_->began >= times_.stands) {
        succeed(done);
    } else {
        done.again = round_->began + times_.stands;
        return true;
    }
    return false;
}

void respawn::begin_round(steady_time now, std::uint32_t live, std::uint32_t target, action& done) {
    next_.reset();
    done.spawn = open_ ? 1 : target - live;
    if (open_) done.what = event::probing;
    round_ = round{now, live + done.spawn};
    done.again = now + times_.stands;
}

respawn::action respawn::look(steady_time now, std::uint32_t live, std::uint32_t target, std::uint64_t random) {
    action done;
    // Scaled down meanwhile: a round need not reach more than what is wanted now.
    if (round_) round_->goal = std::min(round_->goal, target);
    if (judge_round(now, live, done)) return done;
    if (live >= target) {
        next_.reset();
        return done;
    }
    if (!next_) next_ = now + (open_ ? times_.probe : wait_.next(random));
    if (now >= *next_) {
        begin_round(now, live, target, done);
    } else {
        done.again = next_;
    }
    return done;
}

}  // namespace shove::decide
