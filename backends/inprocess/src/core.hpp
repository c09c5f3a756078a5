#pragma once

#include "queue_table.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace shove::in_memory {

/// What driver, subscriptions and pending timers share. It does not own the clock: the driver and
/// the subscriptions do, and a timer that rings is run by it, so a clock never ends on its own thread
/// for our sake.
class core : public std::enable_shared_from_this<core> {
public:
    core(const inprocess::config& settings, clock& time) noexcept : settings_(settings), clock_(time) {}

    clock& time() const noexcept { return clock_; }
    bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
    /// Null: never declared.
    queue* find(std::string_view name) const noexcept { return queues_.find(name); }
    queue& find_or_add(const std::string& name, queue::kind what = queue::kind::store);
    /// A queue that is not in the table.
    std::unique_ptr<queue> make_queue(const std::string& name, std::weak_ptr<const void> owner);
    /// Why there is no such queue.
    error missing(std::string_view name) const;
    error declare(const queue_topology& topology);
    /// Whether a queue is what a topology takes it for.
    error check_kind(const queue& found, bool broadcast) const;
    void close();
    std::vector<spi::queue_info> list();

private:
    error declare_reader(const std::string& target, bool broadcast, const std::string& place);

    const inprocess::config settings_;
    clock& clock_;
    position_source positions_;
    queue_table queues_;
    std::atomic<bool> closed_{false};
    std::mutex declaring_;
    std::map<std::string, std::string, std::less<>> dead_letter_queues_;  // of each main queue that has one
};

/// The text of every call after `close`.
error closed_error();

}  // namespace shove::in_memory
