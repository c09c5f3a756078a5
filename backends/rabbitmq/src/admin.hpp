#pragma once

#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "census.hpp"
#include "control.hpp"
#include "cursor_book.hpp"
#include "management_desk.hpp"
#include "measure.hpp"
#include "outlet.hpp"
#include "queue_rows.hpp"
#include "topologies.hpp"
#include "viewing.hpp"

namespace shove::rabbitmq_backend {

/// How long a question waits for a connection.
inline constexpr std::chrono::seconds connection_patience{30};

/// Lists, browses, moves and removes over a connection of its own, so that a long way through a queue holds nobody up.
///
/// Messages are looked at by taking them and giving them back (see `peek`, also for what that leaves behind). What was
/// taken for one page is held for half a second, for the next page and for `move` and `remove`; `give_back` ends that.
/// @par Thread safety  Safe.
class admin final : public spi::admin {
public:
    struct parts {
        std::shared_ptr<const rabbitmq::config> settings;
        std::shared_ptr<shove::clock> time;
        std::shared_ptr<management_desk> desk;
        std::shared_ptr<census> queues;
        std::shared_ptr<outlet> publishing;
        std::shared_ptr<topologies> known;
        std::function<own_share(const std::string&)> share;  ///< Of a queue.
    };
    explicit admin(parts with);
    ~admin() override;

    void list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) override;
    void browse(std::string queue, std::uint64_t after, std::size_t max,
                spi::callback<void(result<std::vector<spi::browsed>>)> done) override;
    void move(std::string from, std::string to, std::vector<spi::moved> items,
              spi::callback<void(result<std::size_t>)> done) override;
    void remove(std::string queue, std::vector<std::uint64_t> cursors,
                spi::callback<void(result<std::size_t>)> done) override;
    void list_keys(std::vector<std::string> queues,
                   spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) override;
    void release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) override;

    /// Gives back what is held of a queue, then calls. At once where nothing is.
    void give_back(const std::string& queue, unique_function<void()> then);
    /// Gives back what is held, and ends the connection.
    void shut();
    bool wait_stopped(steady_time until) { return over_.wait_stopped(until); }
    void finish() noexcept { over_.finish(); }

private:
    template <class T>
    using answer = spi::callback<void(result<T>)>;
    /// What is known of a queue's settings, which do not change while it lives.
    struct known_queue {
        error refusal;  ///< Why it cannot be looked through.
        steady_time until{};
    };
    struct relocation;
    struct known_book {
        cursor_book pages;
        std::uint64_t used = 0;
    };

    /// Has `run` called on the connection's thread, and answers what it gives.
    template <class T, class Run>
    void post(answer<T> done, Run run);
    /// Finds out whether a queue can be looked through.
    void look_up(const std::string& queue, unique_function<void(const error&)> then);
    void learn(const std::string& queue, const result<queue_stats>& told, unique_function<void(const error&)>& then);

    // On the connection's thread:
    std::vector<spi::queue_info> list(ask_channel& over, const std::vector<queue_stats>& all);
    std::vector<spi::browsed> page(ask_channel& over, const std::string& queue, std::uint64_t after, std::size_t max);
    /// Which of these are still there; they are held then.
    std::vector<std::uint64_t> hold(ask_channel& over, const std::string& queue, std::vector<std::uint64_t> cursors);
    std::size_t take_out(ask_channel& over, const std::string& queue, const std::vector<std::uint64_t>& cursors);
    /// The shards of the topology that has this one.
    void shards_of(const std::string& queue, unique_function<void(std::vector<std::string>)> then);
    void release_in(const std::string& shard, const std::string& key, answer<std::size_t> done);
    void ship(std::shared_ptr<relocation> what);
    void shipped(std::shared_ptr<relocation> what, const std::vector<spi::publish_result>& results);
    void unpin();
    bool is_dead_letter_queue(const std::string& queue) const;
    viewing* current(const std::string& queue);
    viewing& open(ask_channel& over, const std::string& queue);
    void close_viewing();
    void say_looked_at(const viewing& what);
    void idle_later();
    cursor_book& book(const std::string& queue);

    const parts with_;
    mutable std::mutex mutex_;  ///< Guards all up to the next comment.
    bool used_ = false;
    std::string held_;  ///< The queue of which something is held.
    std::map<std::string, known_queue> queues_;
    unsigned pins_ = 0;  ///< Moves for which something must stay held.
    // The connection's thread:
    std::unique_ptr<viewing> viewing_;
    steady_time last_use_{};
    bool idle_posted_ = false;
    std::map<std::string, known_book> books_;
    std::uint64_t uses_ = 0;
    std::uint64_t first_cursor_ = 1;  ///< Of the next book.
    control over_;
};

template <class T, class Run>
void admin::post(answer<T> done, Run run) {
    {
        const std::lock_guard lock(mutex_);
        used_ = true;
    }
    auto shared = std::make_shared<answer<T>>(std::move(done));
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + connection_patience;
    job.run = [this, shared, run = std::move(run)](ask_channel& over) mutable {
        result<T> told = error(errc::internal);
        try {
            told = run(over);
        } catch (const channel_failed& failed) {
            close_viewing();
            told = failed.cause;
        }
        (*shared)(std::move(told));
    };
    job.fail = [shared](const error& why) { (*shared)(why); };
    over_.post(std::move(job));
}

}  // namespace shove::rabbitmq_backend
