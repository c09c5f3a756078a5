#include "census.hpp"

#include <algorithm>
#include <utility>

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::milliseconds shortest_life{100};
constexpr std::chrono::seconds pause_after_failure{5};

}  // namespace

void census::recent(found done) {
    queue_list known;
    {
        const std::lock_guard lock(mutex_);
        if (std::chrono::steady_clock::now() >= until_) {
            std::swap(waiting_.emplace_back(), done);
            if (std::exchange(asking_, true)) return;
        } else {
            known = last_;
        }
    }
    if (done) return done(known);
    const auto since = std::chrono::steady_clock::now();
    desk_->ask([self = shared_from_this(), since](management& api) { self->answered(api.queues(), since); },
               [self = shared_from_this(), since](const error& why) { self->answered(why, since); });
}

void census::answered(result<std::vector<queue_stats>> list, steady_time since) {
    const auto now = std::chrono::steady_clock::now();
    queue_list known;
    if (list) known = std::make_shared<const std::vector<queue_stats>>(std::move(*list));
    std::vector<found> waiting;
    {
        const std::lock_guard lock(mutex_);
        asking_ = false;
        last_ = known;
        until_ = known ? now + std::max<steady_time::duration>(shortest_life, (now - since) * 2) - (now - since)
                       : now + pause_after_failure;
        waiting.swap(waiting_);
    }
    for (auto& each : waiting)
        each(known);
}

const queue_stats* find_queue(const queue_list& list, std::string_view name) {
    if (!list) return nullptr;
    const auto at =
        std::ranges::lower_bound(*list, name, {}, [](const auto& each) { return std::string_view(each.name); });
    return at != list->end() && at->name == name ? &*at : nullptr;
}

std::string_view argument(const queue_stats& of, std::string_view name) {
    const auto at =
        std::ranges::find(of.arguments, name, [](const auto& each) { return std::string_view(each.first); });
    return at == of.arguments.end() ? std::string_view() : std::string_view(at->second);
}

}  // namespace shove::rabbitmq_backend
