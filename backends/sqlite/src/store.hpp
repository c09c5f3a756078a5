#pragma once

#include "catalog.hpp"
#include "leases.hpp"
#include "message_table.hpp"
#include "owner_table.hpp"
#include "shards.hpp"
#include "waiting_room.hpp"

#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace shove::sqlite_backend {

/// The open file with its tables, and this driver as an owner in it. Used by the writer's thread only.
class store {
public:
    struct options {
        std::filesystem::path path;
        bool full_durability = true;
        milliseconds lease{30'000};
        milliseconds busy_timeout{30'000};
        std::shared_ptr<const std::atomic<bool>> hurry = nullptr;
    };

    /// Opens, creates or migrates the file, enters it as an owner, and takes back what dead owners held.
    static result<std::unique_ptr<store>> open(options settings, std::shared_ptr<clock> time);

    /// Begins a write transaction; a `durable` one is synced to the disk when it is committed.
    bool begin(bool durable);
    bool commit();
    void rollback();
    /// Makes the write-ahead log's space usable again, as far as readers allow: after a full disk.
    void reuse_log();
    /// True if another connection has changed the file since the last call. What `begin` notices is
    /// told by the next call.
    bool changed_elsewhere();

    std::int64_t wall_us() const noexcept { return to_microseconds(time_->wall()); }
    std::int64_t steady_us() const noexcept;
    /// When a lease taken now ends. Steady time: a step of the calendar clock ends no lease.
    std::int64_t lease_end() const noexcept { return steady_us() + settings_.lease.count() * 1000; }
    std::uint64_t next_tag() noexcept { return ++last_tag_; }
    std::int64_t self() const noexcept { return self_; }
    /// The next number of a queue's log; 0, with the failure in `db`, if there is none left.
    std::int64_t append_place(queue_state& queue);
    error unknown_queue(std::string_view name) const;
    /// Gives up ownership; the last transaction of a driver.
    bool leave();

    const options& settings() const noexcept { return settings_; }

private:
    store(options settings, std::shared_ptr<clock> time, owners_file locks, std::unique_ptr<database> connection);
    void enter();
    void look_for_news();

    options settings_;
    std::shared_ptr<clock> time_;
    owners_file locks_;
    std::unique_ptr<database> connection_;
    std::int64_t self_ = 0;
    std::uint64_t last_tag_ = 0;
    std::int64_t last_data_version_ = 0;
    bool synced_ = true;
    bool news_ = false;

public:
    database& db;
    catalog queues;
    message_table messages;
    history_table histories;
    waiting_room parked;
    lease_table leases;
    owner_table owners;
    shard_table shards;
    key_table keys;
    sqlite_backend::recovery recovery;

private:
    statement begin_;
    statement commit_;
    statement data_version_;
};

}  // namespace shove::sqlite_backend
