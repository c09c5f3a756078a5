#include "publish_order.hpp"

#include <utility>

namespace shove::detail {

void publish_order::enter(const std::vector<std::string>& keys, unique_function<void()> go) {
    auto mine = std::make_shared<ticket>();
    {
        const std::lock_guard lock(mutex_);
        for (const auto& key : keys) {
            auto& line = lines_[key];
            if (!line.empty()) ++mine->blocked;
            line.push_back(mine);
        }
        if (mine->blocked > 0) {
            mine->go = std::move(go);
            return;
        }
    }
    go();
}

void publish_order::leave(const std::vector<std::string>& keys) {
    std::vector<unique_function<void()>> next;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& key : keys) {
            const auto at = lines_.find(key);
            at->second.pop_front();
            if (at->second.empty()) {
                lines_.erase(at);
            } else if (auto& first = *at->second.front(); --first.blocked == 0) {
                next.push_back(std::move(first.go));
            }
        }
    }
    for (auto& go : next)
        go();
}

}  // namespace shove::detail
