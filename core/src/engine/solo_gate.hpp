#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace shove::detail {

/// A consumer as the gate sees it. Called without any lock of the gate's held, except `calls_running`.
class gate_member {
public:
    virtual ~gate_member() = default;
    /// How many handler calls run now.
    virtual std::size_t calls_running() = 0;
    /// Everything is quiet: the suspect may run.
    virtual void solo_granted() = 0;
    /// The gate opened: claims are allowed again.
    virtual void solo_ended() = 0;
};

/// Lets a message that may have killed a process run alone in this one, so that the next death is
/// surely its own and no bystander is condemned (G3).
/// A member may not claim messages while `closed()`, and calls `recheck` when its last call ended.
/// @par Thread safety  Safe; must not be called with a member's lock held, `closed` excepted.
class solo_gate {
public:
    bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
    void enroll(std::weak_ptr<gate_member> member);
    /// Asks for a turn; `solo_granted` answers, once.
    void request(std::weak_ptr<gate_member> member);
    /// Ends the turn that was granted.
    void release();
    void recheck();

private:
    std::mutex mutex_;
    std::atomic<bool> closed_{false};
    bool granted_ = false;
    std::deque<std::weak_ptr<gate_member>> requests_;
    std::vector<std::weak_ptr<gate_member>> members_;
};

}  // namespace shove::detail
