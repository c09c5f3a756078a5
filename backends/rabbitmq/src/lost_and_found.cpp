#include "lost_and_found.hpp"

#include <utility>

namespace shove::rabbitmq_backend {

void lost_and_found::lost(std::string id) {
    if (id.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!known_.insert_or_assign(id, record{}).second) return;
    order_.push_back(std::move(id));
    while (order_.size() > most_) {
        known_.erase(order_.front());
        order_.pop_front();
    }
}

bool lost_and_found::came_back(const std::string& id, applier apply) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(id);
    if (at == known_.end() || at->second.answer) return false;
    at->second.apply = std::move(apply);
    return true;
}

std::optional<spi::settlement> lost_and_found::answer_for(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(id);
    if (at == known_.end() || !at->second.answer) return std::nullopt;
    auto found = std::move(at->second.answer);
    erase(at);
    return found;
}

bool lost_and_found::answered(spi::settlement& how) {
    applier apply;
    const auto id = how.item.msg.id();
    {
        const std::lock_guard lock(mutex_);
        const auto at = known_.find(id);
        if (at == known_.end()) return false;
        apply = std::move(at->second.apply);
    }
    const bool settled = apply && apply(how);
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(id);
    if (at == known_.end()) return settled;
    // What was not begun may as well be begun by whoever gets it.
    if (settled || how.kind == spi::settlement_kind::release) {
        erase(at);
    } else {
        at->second.answer = std::move(how);
    }
    return settled;
}

void lost_and_found::remember(spi::settlement how) {
    lost(how.item.msg.id());
    answered(how);
}

bool lost_and_found::empty() const {
    const std::lock_guard lock(mutex_);
    return known_.empty();
}

void lost_and_found::erase(records::iterator at) {
    known_.erase(at);
    if (known_.empty()) order_.clear();
}

}  // namespace shove::rabbitmq_backend
