#include <algorithm>
#include <utility>

#include "admin.hpp"
#include "layout.hpp"
#include "wire_in.hpp"

// `admin::list_queues`.

namespace shove::rabbitmq_backend {
namespace {

/// So many questions about single queues; what is beyond is as the broker has noted it.
constexpr std::size_t most_counts = 2'000;
/// So many heads of queues are looked at for their age, of queues with no more messages than that: see `peek`.
constexpr std::size_t most_heads = 100;
constexpr std::uint64_t longest_for_head = 1'000;

wall_time now_of(const shove::clock& time) {
    return time.wall();
}

/// When the message at the head was published; nothing: it does not say, or there is none.
std::optional<wall_time> head_time(ask_channel& over, const std::string& queue) {
    std::optional<wall_time> found;
    peek look(over, queue);
    look.read(1, [&](const glimpse& head) {
        const auto read = read_message(head.properties, head.body, {});
        if (read.msg.published_at() != wall_time{}) found = read.msg.published_at();
    });
    look.give_back();
    return found;
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
    std::vector<const queue_row*> of;
    std::vector<std::size_t> consumers;
    std::size_t counts = 0;
    for (const auto& row : rows) {
        const auto& name = row.noted->name;
        const auto share = with_.share(name);
        auto counted = std::optional(measure(*row.noted, share, now));
        std::vector<std::string> waiting;
        for (const auto* each : row.waiting) {
            waiting.push_back(each->name);
            counted->depth.delayed += each->ready;
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
        made.push_back({name, counted->depth, row.dead_letter_queue, 0});
        consumers.push_back(counted->consumers);
        of.push_back(&row);
    }
    find_ages(over, of, made, consumers);
    for (auto& each : made) {
        const auto dead = std::ranges::lower_bound(made, each.dead_letter_queue, {}, &spi::queue_info::name);
        if (dead != made.end() && dead->name == each.dead_letter_queue) each.dead = dead->depth.ready;
    }
    return made;
}

/// Where the broker has not noted when the message at the head was published, and nobody consumes, it is looked at.
void admin::find_ages(ask_channel& over, const std::vector<const queue_row*>& rows, std::vector<spi::queue_info>& made,
                      const std::vector<std::size_t>& consumers) {
    const auto now = now_of(*with_.time);
    std::size_t heads = 0;
    for (std::size_t i = 0; i < made.size() && heads < most_heads; ++i) {
        auto& depth = made[i].depth;
        const auto& noted = *rows[i]->noted;
        const bool can = depth.ready > 0 && depth.ready <= longest_for_head && consumers[i] == 0 &&
                         !is_single_active(noted) && noted.type != "stream";
        if (!can || depth.oldest_age) continue;
        ++heads;
        try {
            const auto when = head_time(over, made[i].name);
            if (when)
                depth.oldest_age = std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(now - *when));
        } catch (const channel_failed&) {  // it is gone, or another's own
        }
    }
}

}  // namespace shove::rabbitmq_backend
