#pragma once

#include "attendance.hpp"
#include "job.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shove::sqlite_backend {

/// Finds the queue of a new subscription; makes it if that is one to a broadcast.
class subscribe_job final : public job {
public:
    using completion = spi::callback<void(result<std::shared_ptr<reader>>)>;
    subscribe_job(std::string queue, const spi::source& from, completion done);
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;
    bool durable() const noexcept override { return false; }

private:
    std::string queue_;
    bool broadcast_;
    std::shared_ptr<reader> made_;
    completion done_;
};

/// Puts a reader into its queue's line.
class receive_job final : public job {
public:
    using completion = spi::callback<void(result<std::vector<spi::delivery>>)>;
    receive_job(std::shared_ptr<reader> who, std::size_t max, completion done);
    void apply(workplace&) override {}
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;
    bool writes() const noexcept override { return false; }

private:
    std::shared_ptr<reader> who_;
    std::size_t max_;
    completion done_;
};

/// Takes a reader out of its line.
class cancel_job final : public job {
public:
    explicit cancel_job(std::shared_ptr<reader> who) : who_(std::move(who)) {}
    void apply(workplace&) override {}
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;
    bool writes() const noexcept override { return false; }

private:
    std::shared_ptr<reader> who_;
};

/// Renews leases. Not synced: after a power cut every lease is void anyway.
class extend_job final : public job {
public:
    using completion = spi::callback<void(std::vector<std::uint64_t>)>;
    extend_job(std::shared_ptr<reader> who, std::vector<std::uint64_t> tags, completion done);
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;
    bool durable() const noexcept override { return false; }

private:
    std::shared_ptr<reader> who_;
    std::vector<std::uint64_t> tags_;
    std::vector<std::uint64_t> lost_;
    completion done_;
};

/// Marks one delivery as the only one that is being handled.
class isolate_job final : public job {
public:
    isolate_job(std::uint64_t tag, spi::callback<void(error)> done) : tag_(tag), done_(std::move(done)) {}
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;

private:
    std::uint64_t tag_;
    bool lost_ = false;
    spi::callback<void(error)> done_;
};

/// Ends a subscription: what it still holds goes back to the queue, at no cost; of a broadcast it goes with its queue.
class unsubscribe_job final : public job {
public:
    unsubscribe_job(std::shared_ptr<reader> who, spi::callback<void(error)> done);
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;

private:
    std::shared_ptr<reader> who_;
    spi::callback<void(error)> done_;
};

}  // namespace shove::sqlite_backend
