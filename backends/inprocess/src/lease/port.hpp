#pragma once

#include "store.hpp"

#include <shove/clock.hpp>
#include <shove/spi/lease_port.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace shove::inprocess_backend::lease {

/// The port of a store in memory: one lock, and the receives that wait.
class port final : public spi::lease_port, public std::enable_shared_from_this<port> {
public:
    port(const lease_options& options, std::shared_ptr<clock> time);
    ~port() override;
    /// Begins to remove what may go by itself.
    void start_retention();

    void publish(std::vector<spi::lease_publish> messages, answer<spi::lease_receipts> done) override;
    void subscribe(std::string topic, std::string group, lease_start from, answer<lease_subscribed> done) override;
    void unsubscribe(std::string topic, std::string group, answer<std::size_t> done) override;
    void receive(lease_request what, answer<std::vector<leased>> done) override;
    void settle(std::vector<lease_settlement> what, answer<spi::lease_outcomes> done) override;
    void dead_letters(lease_dead_query what, answer<lease_dead_page> done) override;
    void redrive(lease_redrive what, answer<std::size_t> done) override;
    void purge(std::string topic, std::size_t limit, answer<std::size_t> done) override;
    void stats(answer<lease_stats> done) override;
    void close() override;
    lease_limits limits() const override { return store_.limits(); }

private:
    struct waiter {
        lease_request what;
        steady_time until;
        answer<std::vector<leased>> done;
    };
    /// A receive that has its answer; called when the lock is gone.
    struct answered {
        answer<std::vector<leased>> done;
        result<std::vector<leased>> with;
    };
    using answers = std::vector<answered>;

    /// The time, read while the lock is held: having waited for it makes no lease longer and no settlement earlier.
    result<moment> now() const;
    template <class T, class Change>
    void change(answer<T> done, Change make);
    template <class T, class Change>
    result<T> timed(Change make);
    answers serve();
    bool ends_now(waiter& who, const moment& at, answers& into);
    void arm(const moment& at);
    void rung();
    void retire();
    static void tell(answers all);

    const std::shared_ptr<clock> time_;
    const lease_retention retention_;
    std::mutex lock_;
    store store_;
    bool closed_ = false;
    std::list<waiter> waiting_;
    clock::timer_id timer_ = 0;
    steady_time rings_at_{};
    clock::timer_id retiring_ = 0;
};

}  // namespace shove::inprocess_backend::lease
