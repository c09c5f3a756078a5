#include "backlog.hpp"

namespace shove::in_memory {

const message& backlog::front() const {
    if (returned_first()) return returned_.begin()->second.item.msg;
    const block& b = *blocks_.front();
    return b.slots[b.begin].msg;
}

bool backlog::returned_first() const noexcept {
    if (returned_.empty()) return false;
    return fresh_ == 0 || returned_.begin()->first < blocks_.front()->base + blocks_.front()->begin;
}

void backlog::push_back(message&& msg, std::unique_ptr<record> known) {
    block& b = open_block();
    entry& slot = b.slots[b.end];
    slot.msg = std::move(msg);
    slot.known = std::move(known);
    ++b.end;
    ++b.live;
    ++fresh_;
}

backlog::block& backlog::open_block() {
    if (blocks_.empty() || blocks_.back()->end == block_size) {
        if (fresh_ > 0 || blocks_.empty()) blocks_.push_back(std::make_unique<block>());
        block& b = *blocks_.back();
        b.base = positions_.take(block_size);
        b.begin = b.end = 0;
    }
    return *blocks_.back();
}

void backlog::put_back(place where, entry&& item) {
    ++where.generation;
    returned_.insert_or_assign(where.position, returned{std::move(item), where.generation});
}

void backlog::settle_front() {
    while (blocks_.size() > 1 && blocks_.front()->live == 0)
        blocks_.pop_front();
    if (blocks_.empty()) return;
    block& b = *blocks_.front();
    if (b.live == 0) b.begin = b.end;
    while (b.begin < b.end && !b.slots[b.begin].msg)
        ++b.begin;
}

backlog::chain::const_iterator backlog::block_at(std::uint64_t position) const {
    return std::partition_point(blocks_.begin(), blocks_.end(),
                                [&](const auto& b) { return b->base + block_size <= position; });
}

std::optional<std::pair<place, entry>> backlog::take(std::uint64_t position) {
    if (const auto back = returned_.find(position); back != returned_.end()) {
        std::pair found{place{position, back->second.generation}, std::move(back->second.item)};
        returned_.erase(back);
        return found;
    }
    const auto found_block = block_at(position);
    if (found_block == blocks_.end() || position < (*found_block)->base) return std::nullopt;
    block& b = **found_block;
    const std::uint64_t index = position - b.base;
    if (index < b.begin || index >= b.end || !b.slots[index].msg) return std::nullopt;
    std::pair found{place{position, 0}, std::move(b.slots[index])};
    --b.live;
    --fresh_;
    if (b.live == 0 && found_block != blocks_.begin() && found_block + 1 != blocks_.end()) blocks_.erase(found_block);
    settle_front();
    return found;
}

}  // namespace shove::in_memory
