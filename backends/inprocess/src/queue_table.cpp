#include "queue_table.hpp"

namespace shove::in_memory {

queue* queue_table::find(std::string_view name) const noexcept {
    const table& t = *current_.load(std::memory_order_acquire);
    const std::size_t mask = t.slots.size() - 1;
    for (std::size_t i = std::hash<std::string_view>{}(name)&mask;; i = (i + 1) & mask) {
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
    std::size_t i = std::hash<std::string_view>{}(which.name()) & mask;
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
