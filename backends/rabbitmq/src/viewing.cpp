#include "viewing.hpp"

#include <algorithm>
#include <utility>

#include "shard_record.hpp"
#include "wire_in.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// Looked at at a time while something is looked for.
constexpr std::size_t stride = 1'000;

}  // namespace

viewing::found viewing::read(const glimpse& from) {
    auto read = read_message(from.properties, from.body,
                             {.exchange = from.exchange, .routing_key = from.routing_key, .dead_letter_queue = dead_});
    found made;
    made.item.msg = std::move(read.msg);
    made.item.past = std::move(read.past);
    made.what = likeness_of(made.item.msg, made.item.past.get());
    if (!dead_) seen_.push_back(record_id(made.item.msg));
    return made;
}

void viewing::resume(cursor_book::progress from) {
    to_skip_ = std::move(from.seen);
    reading_ = from.of;
}

std::vector<spi::browsed> viewing::page(std::size_t max, cursor_book& book) {
    std::vector<spi::browsed> shown;
    while (shown.size() < max) {
        const auto want = max - shown.size();
        const auto got = look_.read(want, [&](const glimpse& each) {
            auto one = read(each);
            held_.emplace(one.what, each.tag);
            const auto known = to_skip_.find(one.what);
            if (known != to_skip_.end()) {
                if (--known->second == 0) to_skip_.erase(known);
                return;
            }
            one.item.cursor = last_ = book.add(reading_, one.what);
            shown.push_back(std::move(one.item));
        });
        if (got < want) break;
    }
    return shown;
}

void viewing::reach(const likenesses& wanted) {
    std::size_t missing = 0;
    for (const auto& [what, count] : wanted)
        missing += count - std::min(count, held(what));
    if (missing > 0) reading_ = 0;
    while (missing > 0) {
        const auto got = look_.read(stride, [&](const glimpse& each) {
            const auto one = read(each);
            const auto at = wanted.find(one.what);
            if (at != wanted.end() && missing > 0 && held(one.what) < at->second) --missing;
            held_.emplace(one.what, each.tag);
        });
        if (got < stride) break;
    }
}

bool viewing::remove(const likeness& what) {
    const auto at = held_.find(what);
    if (at == held_.end()) return false;
    const bool there = look_.drop(at->second);
    held_.erase(at);
    return there;
}

}  // namespace shove::rabbitmq_backend
