#include "publish_order.hpp"

#include <functional>
#include <utility>

namespace shove::detail {

publish_order::key_id publish_order::id_of(std::string_view queue, std::string_view key) noexcept {
    const std::hash<std::string_view> hash;
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // spreads the queue over all bits
    return hash(key) ^ (hash(queue) * golden);
}

void publish_order::enter(const std::vector<key_id>& keys, unique_function<void()> go) {
    {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<ticket> mine;
        for (const auto key : keys) {
            const auto [line, first] = lines_.try_emplace(key);
            if (first) continue;
            if (!mine) mine = std::make_shared<ticket>();
            ++mine->blocked;
            line->second.push_back(mine);
        }
        if (mine) {
            mine->go = std::move(go);
            return;
        }
    }
    go();
}

void publish_order::leave(const std::vector<key_id>& keys) {
    std::vector<unique_function<void()>> next;
    {
        const std::lock_guard lock(mutex_);
        for (const auto key : keys) {
            const auto line = lines_.find(key);
            auto& waiting = line->second;
            if (waiting.empty()) {
                lines_.erase(line);
                continue;
            }
            const auto first = std::move(waiting.front());
            waiting.erase(waiting.begin());
            if (--first->blocked == 0) next.push_back(std::move(first->go));
        }
    }
    for (auto& go : next)
        go();
}

}  // namespace shove::detail
