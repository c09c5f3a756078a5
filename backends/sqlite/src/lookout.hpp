#pragma once

#include "database.hpp"

#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shove::sqlite_backend {

class view;

/// Reads for people: depths, lists, browsing. On a thread and a connection of its own, so that a
/// long listing does not hold up the writer. Each answer is one short read, so that it does not keep
/// the write-ahead log from being reused either.
/// @par Thread safety  Safe.
class lookout {
public:
    lookout(database::options settings, std::shared_ptr<clock> time);
    lookout(const lookout&) = delete;
    lookout& operator=(const lookout&) = delete;
    ~lookout() { stop(); }

    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done);
    void list(spi::callback<void(result<std::vector<spi::queue_info>>)> done);
    void browse(std::string queue, std::uint64_t after, std::size_t max,
                spi::callback<void(result<std::vector<spi::browsed>>)> done);
    void list_keys(std::vector<std::string> queues, spi::callback<void(result<std::vector<spi::poisoned_key>>)> done);
    /// Refuses what waits, ends the thread and closes the connection. Not from a callback.
    void stop();
    /// True on the thread that answers.
    bool is_own_thread() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }

private:
    /// Gets no view if the driver was closed or the file cannot be read; then `cause` says why.
    using task = unique_function<void(view*, const error& cause)>;
    template <class T>
    void ask(spi::callback<void(result<T>)> done, unique_function<T(view&)> question);
    void post(task what);
    void run();

    database::options settings_;
    std::shared_ptr<clock> time_;
    std::mutex guard_;
    std::condition_variable change_;
    std::deque<task> tasks_;
    bool stopped_ = false;
    std::thread thread_;
};

}  // namespace shove::sqlite_backend
