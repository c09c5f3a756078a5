#pragma once

#include "attendance.hpp"
#include "job.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shove::sqlite_backend {

/// Makes the queues of a topology.
class declare_job final : public job {
public:
    declare_job(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done);
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override { std::exchange(done_, nullptr)(cause); }

private:
    std::shared_ptr<const queue_topology> topology_;
    spi::callback<void(error)> done_;
};

/// Proves that the file can be written: takes the write lock and lets it go.
class ping_job final : public job {
public:
    explicit ping_job(spi::callback<void(error)> done) : done_(std::move(done)) {}
    void apply(workplace&) override {}
    void finish(workplace&, const error& cause, bool) override { std::exchange(done_, nullptr)(cause); }
    void refuse(const error& cause) override { std::exchange(done_, nullptr)(cause); }
    bool durable() const noexcept override { return false; }

private:
    spi::callback<void(error)> done_;
};

/// Moves waiting messages to another queue, or removes them. One page is one transaction.
class move_job final : public job {
public:
    using completion = spi::callback<void(result<std::size_t>)>;
    move_job(std::string from, std::string to, std::vector<spi::moved> items, completion done);
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override { std::exchange(done_, nullptr)(cause); }
    std::size_t messages() const noexcept override { return items_.size(); }

private:
    std::string from_;
    std::string to_;  ///< Empty: nowhere.
    std::vector<spi::moved> items_;
    completion done_;
    std::size_t count_ = 0;
};

/// Lets a poisoned key go on.
class release_key_job final : public job {
public:
    release_key_job(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done)
        : queue_(std::move(queue)), key_(std::move(key)), done_(std::move(done)) {}
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override { std::exchange(done_, nullptr)(cause); }

private:
    std::string queue_;
    std::string key_;
    std::size_t released_ = 0;
    spi::callback<void(result<std::size_t>)> done_;
};

/// Takes one waiting message out of its queue. False: it is not there, or in flight.
bool take_out(store& file, queue_state& queue, std::int64_t seq);

}  // namespace shove::sqlite_backend
