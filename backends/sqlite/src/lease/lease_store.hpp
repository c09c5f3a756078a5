#pragma once

#include "../database.hpp"
#include "../owners_file.hpp"
#include "deliveries.hpp"
#include "messages.hpp"
#include "sealer.hpp"
#include "space.hpp"
#include "topics.hpp"

#include <shove/clock.hpp>
#include <shove/detail/lease_rules.hpp>
#include <shove/lease_options.hpp>
#include <shove/spi/lease_port.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shove::sqlite_backend::lease {

/// When a transaction takes place: read once it holds the file's lock, so that having waited for it makes no lease
/// longer and no settlement earlier. Leases are measured in the machine's uptime: a step of the calendar ends none.
struct moment {
    std::int64_t wall_ms = 0;
    std::int64_t steady_us = 0;
};

/// A namespace of an open file: every operation of the contract, within the caller's transaction. A failure of the
/// file is noted in `db`; what the contract answers is a value. One thread uses it.
class lease_store {
public:
    struct options {
        std::filesystem::path path;
        bool full_durability = true;
        milliseconds busy_timeout{30'000};
        std::shared_ptr<const std::atomic<bool>> hurry = nullptr;
        bool as_stored = false;  ///< Take a namespace that is there with its own limits.
    };

    /// Opens, creates or migrates the file, and makes the namespace or checks that it was made alike.
    static result<std::unique_ptr<lease_store>> open(const options& how, const lease_options& as,
                                                     std::unique_ptr<sealer> seal, std::shared_ptr<clock> time);

    /// Begins a transaction; a `durable` one is synced to the disk when it is committed.
    bool begin(bool durable);
    /// Begins one that only reads.
    bool begin_reading();
    void end_reading();
    bool commit();
    void rollback();
    /// Makes the write-ahead log's space usable again, as far as readers allow: after a full disk.
    void reuse_log();
    /// True if another connection has changed the file since the last call.
    bool changed_elsewhere();

    result<lease_receipt> publish(const spi::lease_publish& what);
    result<lease_subscribed> subscribe(const std::string& topic, const std::string& group, const lease_start& from);
    result<std::size_t> unsubscribe(const std::string& topic, const std::string& group);
    result<std::vector<leased>> receive(const lease_request& what);
    result<lease_settled> settle(const lease_settlement& how);
    result<lease_dead_page> dead_letters(const lease_dead_query& what);
    result<std::size_t> redrive(const lease_redrive& what);
    result<std::size_t> purge(const std::string& topic, std::size_t limit);
    /// One step of removing what may go by itself, short enough for publishers to wait for. True: there is more.
    bool retire(const lease_retention& by);
    /// How far a rekeying is.
    struct rekeyed {
        std::string topic{};   ///< The next one looked at, from
        std::int64_t row = 0;  ///< this row on.
        std::uint64_t records = 0;
    };
    /// One step of sealing anew what another key than `key`, the sealer's own, has sealed. False: there is no more.
    bool rekey(std::string_view key, rekeyed& so_far);
    result<lease_stats> count();
    /// When a receive may find more than now, in steady time.
    std::optional<steady_time> next_change(const std::string& topic, const std::string& group);

    const lease_limits& limits() const noexcept { return space_.limits; }
    const std::string& profile() const noexcept { return space_.profile.profile; }
    /// Of this transaction.
    const result<moment>& now() const noexcept { return now_; }

private:
    lease_store(owners_file locks, std::unique_ptr<database> connection, std::unique_ptr<sealer> seal,
                const options& how, const lease_options& as, std::shared_ptr<clock> time);
    void enter(const lease_options& as);
    void adopt(const lease_options& as);
    void look_for_news();
    void read_time();

    struct place {
        topic_state* topic = nullptr;
        group_state* group = nullptr;
    };
    result<place> find(const std::string& topic, const std::string& group);
    void sweep(std::int64_t group, const moment& at);
    void give_back(std::int64_t group, std::int64_t seq, std::int64_t attempts, const moment& at);
    std::uint64_t pending(const place& of);
    result<lease_settled> settle_held(const delivery_table::row& held, const lease_settlement& how, const moment& at);
    /// True: the step is used up.
    bool retire_topic(topic_state& topic, const std::string& name, const lease_retention& by, std::size_t& looked_at);
    void remove(topic_state& topic, const std::string& name, const message_log::purgeable& what);

    owners_file locks_;
    std::unique_ptr<database> connection_;
    std::unique_ptr<sealer> seal_;
    std::shared_ptr<clock> time_;
    const bool full_durability_;
    const bool as_stored_;
    space_row space_;
    bool counts_changed_ = false;
    bool synced_ = true;
    bool news_ = false;
    std::int64_t last_data_version_ = 0;
    std::map<std::int64_t, std::int64_t> retired_to_;  ///< Of a topic, where the next step of retention goes on.
    result<moment> now_{moment{}};
    detail::random_source random_;

public:
    database& db;

private:
    space_table spaces_;
    topic_table topics_;
    message_log messages_;
    delivery_table deliveries_;
    statement begin_;
    statement begin_reading_;
    statement commit_;
    statement data_version_;
};

}  // namespace shove::sqlite_backend::lease
