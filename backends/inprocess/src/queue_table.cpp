#include "queue_table.hpp"

#include <cstdint>
#include <cstring>

namespace shove::in_memory {
namespace {

std::uint64_t load(const char* from, std::size_t count) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from, count);
    return word;
}

/// Up to seven bytes as one number, without a loop.
std::uint64_t load_rest(std::string_view rest) noexcept {
    const char* const at = rest.data();
    const std::size_t n = rest.size();
    if (n >= 4) return load(at, 4) | load(at + n - 4, 4) << 32;
    return n == 0 ? 0 : load(at, 1) | load(at + n / 2, 1) << 8 | load(at + n - 1, 1) << 16;
}

/// Eight bytes a step: names are short, and every publish looks one up.
std::uint64_t hash_of(std::string_view name) noexcept {
    constexpr std::uint64_t factor = 0x9E37'79B9'7F4A'7C15;
    const auto mix = [](std::uint64_t h, std::uint64_t word) {
        h = (h ^ word) * factor;
        return h ^ (h >> 32);
    };
    std::uint64_t h = name.size();
    for (; name.size() >= 8; name.remove_prefix(8))
        h = mix(h, load(name.data(), 8));
    return mix(h, load_rest(name));
}

}  // namespace

queue* queue_table::find(std::string_view name) const noexcept {
    const table& t = *current_.load(std::memory_order_acquire);
    const std::size_t mask = t.slots.size() - 1;
    for (std::size_t i = hash_of(name) & mask;; i = (i + 1) & mask) {
        queue* found = t.slots[i].load(std::memory_order_acquire);
        if (!found || found->name() == name) return found;
    }
}

std::vector<queue*> queue_table::all() const {
    std::lock_guard guard(adding_);
    std::vector<queue*> found;
    found.reserve(queues_.size());
    for (const auto& q : queues_)
        found.push_back(q.get());
    return found;
}

void queue_table::put(table& into, queue& which) noexcept {
    const std::size_t mask = into.slots.size() - 1;
    std::size_t i = hash_of(which.name()) & mask;
    while (into.slots[i].load(std::memory_order_relaxed))
        i = (i + 1) & mask;
    into.slots[i].store(&which, std::memory_order_release);
}

void queue_table::grow(std::size_t count) {
    auto bigger = std::make_unique<table>(count);
    for (const auto& q : queues_)
        put(*bigger, *q);
    tables_.push_back(std::move(bigger));
    current_.store(tables_.back().get(), std::memory_order_release);
}

}  // namespace shove::in_memory
