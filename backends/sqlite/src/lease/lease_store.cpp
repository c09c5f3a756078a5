#include "lease_store.hpp"

#include "../opening.hpp"

#include <shove/detail/lease_rules.hpp>

#include <sys/stat.h>

#include <chrono>
#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

/// Refused before SQLite could make a file of it, or follow a link to one.
error check_path(const std::filesystem::path& path) {
    const auto& name = path.native();
    if (name.empty() || name == ":memory:" || name.starts_with("file:")) {
        return {errc::invalid_argument,
                "leases at '" + name + "': name a file; for leases in memory use open_inprocess_leases"};
    }
    struct stat found {};
    if (::lstat(name.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return {};
    return {errc::invalid_argument,
            "leases at '" + name + "': there is something that is no regular file; name another file"};
}

error other_limits(std::string_view path, std::string_view name_space, const lease_limits& stored) {
    std::string text = "'";
    text.append(path).append("', namespace '").append(name_space).append("': it was made with the limits ");
    text.append(std::to_string(stored.retained_messages)).append(" messages, ");
    text.append(std::to_string(stored.subscriptions)).append(" subscriptions, ");
    text.append(std::to_string(stored.attempts)).append(" attempts, ");
    text.append(std::to_string(stored.payload_bytes))
        .append(" payload bytes; open it with these, or change them with ");
    text.append("`shove store set-limit`");
    return {errc::configuration_conflict, std::move(text)};
}

}  // namespace

result<std::unique_ptr<lease_store>> lease_store::open(const options& how, const lease_options& as,
                                                       std::unique_ptr<sealer> seal, std::shared_ptr<clock> time) {
    if (auto wrong = check_path(how.path)) return wrong;
    database::options file{how.path, database::access::read_write, how.busy_timeout, how.hurry};
    const auto wall = std::chrono::duration_cast<std::chrono::microseconds>(time->wall().time_since_epoch()).count();
    auto opened = open_file(std::move(file), how.full_durability, wall);
    if (!opened) return opened.error();
    std::unique_ptr<lease_store> made(new lease_store(std::move(opened->locks), std::move(opened->connection),
                                                      std::move(seal), how, as, std::move(time)));
    made->enter(as);
    made->locks_.unlock(owners_file::opening);
    if (!made->db.ok()) return made->db.failure();
    return made;
}

lease_store::lease_store(owners_file locks, std::unique_ptr<database> connection, std::unique_ptr<sealer> seal,
                         const options& how, const lease_options& as, std::shared_ptr<clock> time)
    : locks_(std::move(locks)),
      connection_(std::move(connection)),
      seal_(std::move(seal)),
      time_(std::move(time)),
      full_durability_(how.full_durability),
      as_stored_(how.as_stored),
      db(*connection_),
      spaces_(db),
      topics_(db),
      messages_(db, *seal_, as.name_space),
      deliveries_(db),
      begin_(db, "BEGIN IMMEDIATE"),
      begin_reading_(db, "BEGIN"),
      commit_(db, "COMMIT"),
      data_version_(db, "PRAGMA data_version") {}

void lease_store::enter(const lease_options& as) {
    begin_.run();
    note_boot(db);
    adopt(as);
    commit_.run();
    if (!db.ok() && db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void lease_store::adopt(const lease_options& as) {
    auto there = spaces_.find(as.name_space);
    if (!db.ok()) return;
    if (there && !as_stored_ && there->limits != as.limits) {
        return db.fail(other_limits(db.path().native(), as.name_space, there->limits));
    }
    std::vector<message_log::sample> kept;
    std::vector<sealed_sample> samples;
    if (there) kept = message_log::samples(db, there->id);
    samples.reserve(kept.size());
    for (const auto& each : kept) {
        samples.push_back({{as.name_space, each.topic, each.sequence, each.id, each.event_kind, each.content_type,
                            each.published_at_ms},
                           each.blob});
    }
    auto profile = seal_->attach(there ? std::optional(there->profile) : std::nullopt, samples);
    if (!profile) return db.fail(profile.error());
    if (!there) {
        space_.limits = as.limits;
        space_.id = spaces_.insert(as.name_space, as.limits, *profile);
    } else {
        space_ = std::move(*there);
        if (space_.profile != *profile) spaces_.set_profile(space_.id, *profile);
    }
    space_.profile = std::move(*profile);
    topics_.use(space_.id);
}

bool lease_store::begin(bool durable) {
    const bool synced = durable && full_durability_;
    if (synced != synced_) {
        db.run(synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        synced_ = synced;
    }
    begin_.run();
    look_for_news();
    read_time();
    return db.ok();
}

bool lease_store::begin_reading() {
    begin_reading_.run();
    look_for_news();
    read_time();
    return db.ok();
}

void lease_store::read_time() {
    const auto wall = detail::wall_ms(*time_);
    using std::chrono::microseconds;
    const auto steady = std::chrono::duration_cast<microseconds>(time_->now().time_since_epoch()).count();
    now_ = wall ? result<moment>(moment{*wall, steady}) : wall.error();
}

bool lease_store::commit() {
    topics_.flush();
    if (std::exchange(counts_changed_, false)) spaces_.set_counts(space_);
    commit_.run();
    return db.ok();
}

void lease_store::rollback() {
    // A failed statement may have rolled back already (disk full, I/O error).
    if (db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    db.clear_failure();
    topics_.forget();
    counts_changed_ = false;
    last_data_version_ = 0;  // reads the counts again
}

void lease_store::end_reading() {
    commit_.run();
    if (!db.ok()) rollback();
}

void lease_store::reuse_log() {
    sqlite3_wal_checkpoint_v2(db.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

void lease_store::look_for_news() {
    std::int64_t version = 0;
    {
        auto rows = data_version_.query();
        version = rows.next() ? rows.number(0) : 0;
    }
    if (std::exchange(last_data_version_, version) == version) return;
    news_ = true;
    topics_.forget();
    spaces_.refresh(space_);
}

bool lease_store::changed_elsewhere() {
    look_for_news();
    return std::exchange(news_, false);
}

result<lease_stats> lease_store::count() {
    lease_stats made{space_.limits,
                     static_cast<std::uint64_t>(space_.retained),
                     static_cast<std::uint64_t>(space_.content_bytes),
                     static_cast<std::uint32_t>(space_.subscriptions),
                     {}};
    for (auto& [name, topic] : topics_.all()) {
        auto& one = made.topics.emplace_back();
        one.topic = name;
        one.retained = static_cast<std::uint64_t>(messages_.count(topic.base(), topic.tail));
        one.next_sequence = topic.sequence_of(topic.tail) + 1;
        if (const auto oldest = messages_.oldest(topic.base(), topic.tail)) one.oldest = detail::from_ms(*oldest);
        for (auto& [group_name, group] : topic.groups) {
            lease_group_stats counts{group_name, pending({&topic, &group}), 0, 0};
            counts.leased = static_cast<std::uint64_t>(deliveries_.count(group.id, delivery_state::leased));
            counts.dead = static_cast<std::uint64_t>(deliveries_.count(group.id, delivery_state::dead));
            one.groups.push_back(std::move(counts));
        }
    }
    return made;
}

std::optional<steady_time> lease_store::next_change(const std::string& topic, const std::string& group) {
    const auto at = find(topic, group);
    if (!at || !now_) return std::nullopt;
    std::optional<std::int64_t> us = deliveries_.next(at->group->id, delivery_state::leased);
    if (const auto due = deliveries_.next(at->group->id, delivery_state::waiting)) {
        const auto in_us = now_->steady_us + std::max<std::int64_t>(0, *due - now_->wall_ms) * 1000;
        us = us ? std::min(*us, in_us) : in_us;
    }
    if (!us) return std::nullopt;
    return steady_time(std::chrono::microseconds(*us));
}

}  // namespace shove::sqlite_backend::lease
