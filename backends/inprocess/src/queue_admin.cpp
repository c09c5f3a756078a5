#include "queue.hpp"

namespace shove::in_memory {
namespace {

std::unique_ptr<spi::history> copy_of(const std::unique_ptr<record>& known) {
    return known && known->past ? std::make_unique<spi::history>(*known->past) : nullptr;
}

}  // namespace

spi::queue_depth queue::depth() {
    const auto now = clock_.wall();
    std::lock_guard guard(lock_);
    spi::queue_depth found{
        .ready = ready_.size(), .in_flight = in_flight_, .delayed = delayed_.size(), .oldest_age = {}};
    if (ready_.empty()) return found;
    const auto published = ready_.front().published_at();
    if (published == wall_time{}) return found;
    found.oldest_age = std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(now - published));
    return found;
}

void queue::browse(std::uint64_t after, std::size_t max, std::vector<spi::browsed>& into) {
    std::lock_guard guard(lock_);
    ready_.browse(after, max, [&into](std::uint64_t position, const entry& item) {
        into.push_back({position, item.msg, copy_of(item.known)});
    });
}

held queue::take(const std::vector<std::uint64_t>& positions) {
    held taken;
    taken.reserve(positions.size());
    std::lock_guard guard(lock_);
    for (const auto position : positions) {
        auto found = ready_.take(position);
        if (found) taken.push_back(std::move(*found));
    }
    in_flight_ += taken.size();
    return taken;
}

void queue::finish(held messages) {
    completions due;
    {
        std::lock_guard guard(lock_);
        for (const auto& [where, item] : messages)
            room_.leave(1, room_.weigh(item.msg));
        in_flight_ -= messages.size();
        match(due);
    }
    messages.clear();
    tell_feeder();
    due.run();
}

void queue::give_back(held messages) {
    completions due;
    {
        std::lock_guard guard(lock_);
        for (auto& [where, item] : messages)
            ready_.put_back(where, std::move(item));
        in_flight_ -= messages.size();
        match(due);
    }
    due.run();
}

}  // namespace shove::in_memory
