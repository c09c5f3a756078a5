#pragma once

#include "queue.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace shove::in_memory {

/// The queues of a driver by name. Queues are added, never removed, so that finding one takes no
/// lock: a publish must not meet the others there.
/// @par Thread safety  All members, from any thread.
class queue_table {
public:
    queue_table() { grow(16); }

    /// Null: not there.
    queue* find(std::string_view name) const noexcept;
    /// Finds it, or adds what `make` gives.
    template <class Make>
    queue& find_or_add(std::string_view name, Make&& make);
    /// All queues, in no order.
    std::vector<queue*> all() const;

private:
    using slot = std::atomic<queue*>;
    struct table {
        explicit table(std::size_t count) : slots(count) {}
        std::vector<slot> slots;  // open addressing; a power of two, at most half full
    };

    static void put(table& into, queue& which) noexcept;
    void grow(std::size_t count);

    mutable std::mutex adding_;
    std::vector<std::unique_ptr<queue>> queues_;
    std::vector<std::unique_ptr<table>> tables_;  // outgrown ones stay for readers on their way
    std::atomic<const table*> current_{nullptr};
};

template <class Make>
queue& queue_table::find_or_add(std::string_view name, Make&& make) {
    if (queue* found = find(name)) return *found;
    std::lock_guard guard(adding_);
    if (queue* found = find(name)) return *found;
    queues_.push_back(make());
    if (queues_.size() * 2 > tables_.back()->slots.size()) {
        grow(tables_.back()->slots.size() * 2);
    } else {
        put(*tables_.back(), *queues_.back());
    }
    return *queues_.back();
}

}  // namespace shove::in_memory
