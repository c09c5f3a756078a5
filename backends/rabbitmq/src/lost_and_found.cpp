#include "lost_and_found.hpp"

#include <utility>

namespace shove::rabbitmq_backend {

void lost_and_found::lost(std::string name) {
    if (name.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!known_.insert_or_assign(name, record{}).second) return;
    order_.push_back(std::move(name));
    while (order_.size() > most_) {
        known_.erase(order_.front());
        order_.pop_front();
    }
    count_ = known_.size();
}

bool lost_and_found::came_back(const std::string& name, applier apply) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(name);
    if (at == known_.end() || at->second.answer) return false;
    at->second.apply = std::move(apply);
    return true;
}

std::optional<spi::settlement> lost_and_found::answer_for(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(name);
    if (at == known_.end() || !at->second.answer) return std::nullopt;
    auto found = std::move(at->second.answer);
    erase(at);
    return found;
}

bool lost_and_found::answered(const std::string& name, spi::settlement& how) {
    applier apply;
    {
        const std::lock_guard lock(mutex_);
        const auto at = known_.find(name);
        if (at == known_.end()) return false;
        apply = std::move(at->second.apply);
    }
    const bool settled = apply && apply(how);
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(name);
    if (at == known_.end()) return settled;
    // What was not begun may as well be begun by whoever gets it.
    if (settled || how.kind == spi::settlement_kind::release) {
        erase(at);
    } else {
        at->second.answer = std::move(how);
    }
    return settled;
}

void lost_and_found::remember(const std::string& name, spi::settlement how) {
    lost(name);
    answered(name, how);
}

void lost_and_found::is_new(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(name);
    if (at != known_.end() && at->second.answer) erase(at);
}

void lost_and_found::erase(records::iterator at) {
    known_.erase(at);
    count_ = known_.size();
    if (known_.empty()) order_.clear();
}

}  // namespace shove::rabbitmq_backend
