#include "solo_gate.hpp"

#include <algorithm>

namespace shove::detail {

void solo_gate::enroll(std::weak_ptr<gate_member> member) {
    std::lock_guard lock(mutex_);
    std::erase_if(members_, [](const auto& m) { return m.expired(); });
    members_.push_back(std::move(member));
}

void solo_gate::request(std::weak_ptr<gate_member> member) {
    {
        std::lock_guard lock(mutex_);
        requests_.push_back(std::move(member));
        closed_.store(true, std::memory_order_release);
    }
    recheck();
}

void solo_gate::release() {
    {
        std::lock_guard lock(mutex_);
        granted_ = false;
    }
    recheck();
}

void solo_gate::recheck() {
    std::shared_ptr<gate_member> winner;
    std::vector<std::shared_ptr<gate_member>> members;
    {
        std::lock_guard lock(mutex_);
        if (granted_ || !closed()) return;
        for (const auto& weak : members_) {
            if (auto m = weak.lock()) members.push_back(std::move(m));
        }
        while (!requests_.empty() && !winner) {
            winner = requests_.front().lock();
            if (!winner) requests_.pop_front();
        }
        if (winner) {
            // A member that claims after this saw the gate closed; one that claimed before is counted here.
            if (std::ranges::any_of(members, [](const auto& m) { return m->calls_running() > 0; })) return;
            requests_.pop_front();
            granted_ = true;
        } else {
            closed_.store(false, std::memory_order_release);
        }
    }
    if (winner) {
        winner->solo_granted();
    } else {
        for (const auto& m : members)
            m->solo_ended();
    }
}

}  // namespace shove::detail
