#pragma once

#include <shove/spi/driver.hpp>
#include <shove/sqlite.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::sqlite_test {

using namespace std::chrono_literals;

/// How long a test waits for an event before it is called lost.
inline constexpr auto patience = 60s;

/// A clock that stands still until it is told.
class manual_clock final : public clock {
public:
    steady_time now() const noexcept override;
    wall_time wall() const noexcept override;
    timer_id call_at(steady_time when, unique_function<void()> action) override;
    bool cancel(timer_id id) override;

    /// Moves both times on and rings the timers that are due.
    void advance(milliseconds by);
    /// Steps the calendar only.
    void step_wall(milliseconds by);

private:
    mutable std::mutex guard_;
    steady_time now_{1'000'000s};
    wall_time wall_{1'700'000'000s};
    timer_id last_ = 0;
    std::multimap<steady_time, std::pair<timer_id, unique_function<void()>>> timers_;
};

/// A folder that goes with the test.
class scratch_folder {
public:
    scratch_folder();
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder();
    std::filesystem::path file(std::string_view name = "queue.db") const { return path_ / name; }
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// The outcome of a callback, waited for.
template <class T>
class outcome_of {
public:
    unique_function<void(T)> callback() {
        return [given = given_](T value) { given->set_value(std::move(value)); };
    }
    bool within(std::chrono::milliseconds time) { return future_.wait_for(time) == std::future_status::ready; }
    T get() {
        if (!within(patience)) throw std::runtime_error("no answer in time");
        return future_.get();
    }

private:
    std::shared_ptr<std::promise<T>> given_ = std::make_shared<std::promise<T>>();
    std::future<T> future_ = given_->get_future();
};

using deliveries = std::vector<spi::delivery>;
using topology_ptr = std::shared_ptr<const queue_topology>;

/// `queue`, with a hold tier and the dead-letter queue `queue-dlq`.
topology_ptr plain_topology(std::string_view queue = "orders");

message text_message(std::string_view body, std::string_view id = "");
std::string body_of(const message& m);
std::string body_of(const spi::delivery& d);

/// A driver and the blocking form of its calls.
class client {
public:
    explicit client(sqlite::config settings, std::shared_ptr<clock> time = nullptr);
    client(const std::filesystem::path& path, std::shared_ptr<clock> time = nullptr);
    static result<std::shared_ptr<spi::driver>> try_open(const std::filesystem::path& path);

    spi::driver& driver() { return *driver_; }
    void declare(const topology_ptr& topology);
    /// Publishes and expects a confirmation.
    void publish(const topology_ptr& topology, std::vector<std::string> bodies, milliseconds delay = 0ms);
    void publish_message(const topology_ptr& topology, message what);
    spi::publish_report try_publish(const topology_ptr& topology, spi::publish_request request);
    std::shared_ptr<spi::subscription> subscribe(const topology_ptr& topology, std::size_t prefetch = 100,
                                                 bool dead = false);
    spi::queue_depth depth(std::string queue);
    std::vector<spi::queue_info> queues();
    std::vector<spi::browsed> browse(std::string queue, std::uint64_t after, std::size_t max);
    std::size_t move(std::string from, std::string to, std::vector<spi::moved> items);
    std::size_t remove(std::string queue, std::vector<std::uint64_t> cursors);
    error close(milliseconds within = 30s);
    void drop() { driver_.reset(); }

private:
    std::shared_ptr<clock> clock_;
    std::shared_ptr<spi::driver> driver_;
};

deliveries receive(spi::subscription& from, std::size_t max = 100);
/// Receives until `count` are there.
deliveries receive_all(spi::subscription& from, std::size_t count);
/// What did not happen.
std::vector<spi::failed_settlement> settle(spi::subscription& at, deliveries what, spi::settlement_kind kind,
                                           milliseconds delay = 0ms);
std::vector<spi::failed_settlement> settle(spi::subscription& at, spi::delivery what, spi::settlement_kind kind,
                                           milliseconds delay = 0ms);
std::vector<std::uint64_t> extend(spi::subscription& at, std::vector<std::uint64_t> tags);
error isolate(spi::subscription& at, std::uint64_t tag);
error close(spi::subscription& what);

/// Runs `body` in a child process, which ends by `SIGKILL` when it returns. Forks, so no driver may be open.
void in_killed_child(unique_function<void()> body);
/// Runs `body` in a child; its answer becomes the exit status.
int in_child(unique_function<int()> body);

}  // namespace shove::sqlite_test
