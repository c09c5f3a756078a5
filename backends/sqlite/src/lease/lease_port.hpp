#pragma once

#include "task_queue.hpp"
#include "worker.hpp"

#include <shove/clock.hpp>
#include <shove/spi/lease_port.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace shove::sqlite_backend::lease {

/// The port of a namespace of a file: hands every operation to the worker's thread.
class port final : public spi::lease_port {
public:
    /// @param hurry  What the file was opened with: set once it should no longer wait for other processes.
    port(std::unique_ptr<lease_store> file, const lease_options& as, milliseconds poll, std::shared_ptr<clock> time,
         std::shared_ptr<std::atomic<bool>> hurry);
    port(const port&) = delete;
    port& operator=(const port&) = delete;
    ~port() override;

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
    lease_limits limits() const override { return limits_; }

private:
    const lease_limits limits_;
    std::shared_ptr<clock> time_;
    std::shared_ptr<std::atomic<bool>> hurry_;
    std::shared_ptr<task_queue> inbox_;
    std::shared_ptr<waiting_list> waiting_;
    std::thread thread_;
};

}  // namespace shove::sqlite_backend::lease
