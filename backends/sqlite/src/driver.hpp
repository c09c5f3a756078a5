#pragma once

#include "ending.hpp"
#include "lookout.hpp"
#include "mailbox.hpp"
#include "store.hpp"

#include <shove/spi/driver.hpp>
#include <shove/sqlite.hpp>

#include <memory>
#include <thread>

namespace shove::sqlite_backend {

/// The port's driver over one file: hands operations to the writer and questions to the lookout.
class driver final : public spi::driver, private spi::admin {
public:
    driver(const sqlite::config& settings, std::shared_ptr<clock> time, std::unique_ptr<store> file,
           std::shared_ptr<ending> end);
    ~driver() override;

    const spi::capabilities& capabilities() const noexcept override { return capabilities_; }
    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) override;
    void publish(const queue_topology& topology, spi::publish_request request,
                 spi::callback<void(spi::publish_report)> done) override;
    void subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) override;
    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) override;
    void ping(steady_time deadline, spi::callback<void(error)> done) override;
    void describe(spi::callback<void(result<spi::description>)> done) override;
    void close(steady_time deadline, spi::callback<void(error)> done) override;
    spi::admin* admin() noexcept override { return this; }

private:
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

    spi::capabilities capabilities_;
    const spi::description description_;
    std::shared_ptr<clock> time_;
    std::shared_ptr<mailbox> inbox_;
    std::shared_ptr<lookout> lookout_;
    std::shared_ptr<ending> ending_;
    std::thread writer_;
};

}  // namespace shove::sqlite_backend
