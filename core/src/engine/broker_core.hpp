#pragma once

#include <shove/broker.hpp>
#include <shove/spi/driver.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "../message/uuid_text.hpp"
#include "../observe/happening.hpp"
#include "../observe/meter_board.hpp"
#include "publish_order.hpp"
#include "solo_gate.hpp"
#include "task_thread.hpp"
#include "worker_pool.hpp"

namespace shove::detail {

class depth_sampler;
class group_core;

/// What publishers and groups of one broker share. Thread-safe.
class broker_core : public std::enable_shared_from_this<broker_core> {
public:
    broker_core(std::shared_ptr<spi::driver> driver, broker_options options);
    ~broker_core();

    spi::driver& driver() noexcept { return *driver_; }
    const spi::capabilities& capabilities() const noexcept { return driver_->capabilities(); }
    shove::clock& clock() noexcept { return *clock_; }
    worker_pool& workers() noexcept { return workers_; }
    solo_gate& gate() noexcept { return gate_; }
    /// Where groups see after their consumers: respawning and scaling.
    task_thread& supervising() noexcept { return supervising_; }
    uuid_source& ids() noexcept { return ids_; }
    publish_order& order() noexcept { return order_; }
    /// Where coroutine handlers and completions run; makes the broker's own pool on first use.
    boost::asio::any_io_executor executor();
    /// Tells something that happened to the log and to whoever listens to events.
    /// @param text  For people.
    /// @param fields  Those of the happening, in order.
    void tell(happening what, std::string_view text, std::span<const event_field> fields) const;
    void tell(happening what, std::string_view text, std::initializer_list<event_field> fields) const {
        tell(what, text, std::span(fields.begin(), fields.size()));
    }
    /// Null: nothing is measured.
    meter_board* board() const noexcept { return board_.get(); }
    broker_meters* meters() const noexcept { return meters_.get(); }
    void count_error(broker_meters::kind kind) const noexcept {
        if (meters_) meters_->errors[kind].add();
    }
    shove::tracer* tracer() const noexcept { return options_.tracer.get(); }
    const broker_options& options() const noexcept { return options_; }
    /// An evenly spread number, for backoff.
    std::uint64_t random();
    bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Runs a blocking wait on a thread of its own, joined by `shutdown`.
    void spawn_waiter(unique_function<void()> wait);

    /// Groups that run now.
    std::vector<std::shared_ptr<group_core>> groups();
    /// Groups that run, so that `close` can drain them.
    void enter(const std::shared_ptr<group_core>& group);
    void leave(const group_core* group);

    /// Drains the groups, closes the driver. Idempotent.
    error close(milliseconds deadline);
    /// `close`, then waits for all threads, stuck handlers included.
    void shutdown(milliseconds deadline);

private:
    std::shared_ptr<shove::clock> clock_;
    std::shared_ptr<spi::driver> driver_;
    broker_options options_;
    const std::shared_ptr<meter_board> board_;
    const std::shared_ptr<broker_meters> meters_;
    uuid_source ids_;
    publish_order order_;
    solo_gate gate_;
    std::atomic<bool> closed_{false};
    std::mutex mutex_;
    std::mt19937_64 random_;
    std::vector<std::weak_ptr<group_core>> groups_;
    std::unique_ptr<boost::asio::thread_pool> pool_;
    std::vector<std::jthread> waiters_;
    worker_pool workers_;
    task_thread supervising_;
    std::shared_ptr<depth_sampler> sampler_;  ///< Made with the first group, where depths are measured.
};

}  // namespace shove::detail
