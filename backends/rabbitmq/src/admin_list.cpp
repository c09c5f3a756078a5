#include <algorithm>
#include <utility>

#include "admin.hpp"
#include "layout.hpp"

// `admin::list_queues`. It touches no message: to look at one is to mark it as delivered before.

namespace shove::rabbitmq_backend {
namespace {

/// So many questions about single queues; what is beyond is as the broker has noted it.
constexpr std::size_t most_counts = 2'000;

wall_time now_of(const shove::clock& time) {
    return time.wall();
}

}  // namespace

void admin::list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) {
    auto shared = std::make_shared<answer<std::vector<spi::queue_info>>>(std::move(done));
    auto told = [this, shared](management& api) {
        auto all = api.queues();
        if (!all) return (*shared)(all.error());
        post<std::vector<spi::queue_info>>(
            std::move(*shared), [this, all = std::move(*all)](ask_channel& over) { return list(over, all); });
    };
    with_.desk->ask(std::move(told), [shared](const error& why) { (*shared)(why); });
}

std::vector<spi::queue_info> admin::list(ask_channel& over, const std::vector<queue_stats>& all) {
    close_viewing();
    const auto rows = rows_of(all, [this](const auto& name) { return with_.known->find(name); });
    const auto now = now_of(*with_.time);
    std::vector<spi::queue_info> made;
    std::size_t counts = 0;
    for (const auto& row : rows) {
        const auto& name = row.noted->name;
        const auto share = with_.share(name);
        auto counted = std::optional(measure(*row.noted, share, now));
        std::vector<std::string> waiting;
        for (const auto* each : row.waiting) {
            waiting.push_back(each->name);
            counted->delayed += each->ready;
        }
        if (counts < most_counts && !is_subscription(*row.noted)) {
            counts += 1 + waiting.size();
            try {
                counted = measure(
                    over, name, waiting, row.noted, [&] { return with_.share(name); }, now);
            } catch (const channel_failed&) {  // another connection's own, or on a node that is down: as it was noted
            }
        }
        if (!counted) continue;  // deleted meanwhile
        made.push_back({name, *counted, row.dead_letter_queue, 0});
    }
    for (auto& each : made) {
        const auto dead = std::ranges::lower_bound(made, each.dead_letter_queue, {}, &spi::queue_info::name);
        if (dead != made.end() && dead->name == each.dead_letter_queue) each.dead = dead->depth.ready;
    }
    return made;
}

}  // namespace shove::rabbitmq_backend
