#include <shove/sqlite_store.hpp>

#include <shove/detail/lease_rules.hpp>

#include <utility>

#include "lease_store.hpp"
#include "upkeep.hpp"

namespace shove {

namespace {

namespace lease = sqlite_backend::lease;

/// Takes a namespace as it is, and looks into no record.
class blind_sealer final : public lease::sealer {
public:
    result<lease::sealer_state> attach(const std::optional<lease::sealer_state>& stored,
                                       std::span<const lease::sealed_sample>) override {
        return stored ? *stored : lease::sealer_state{};
    }
    result<lease::sealed> seal(const lease::record_identity&, std::string) override { return unable(); }
    result<std::string> open(const lease::record_identity&, std::string_view) override { return unable(); }
    result<spi::fingerprint> fingerprint(const spi::fingerprint&) override { return unable(); }

private:
    static error unable() { return {errc::key_unavailable, "upkeep looks into no record"}; }
};

result<lease_space_stats> stats_of(const std::filesystem::path& path, const std::string& name_space) {
    lease_options as;
    as.name_space = name_space;
    auto store = lease::lease_store::open({.path = path, .as_stored = true}, as, std::make_unique<blind_sealer>(),
                                          make_system_clock());
    if (!store) return store.error();
    auto& in = **store;
    in.begin_reading();
    auto counts = in.count();
    const auto profile = in.profile();
    if (!in.db.ok()) return in.db.failure();
    in.end_reading();
    return lease_space_stats{name_space, profile, std::move(*counts)};
}

}  // namespace

result<std::vector<lease_space_stats>> sqlite_lease_stats(const std::filesystem::path& path) {
    auto file = lease::open_existing(path);
    if (!file) return file.error();
    const auto names = lease::space_names(**file);
    if (!(*file)->ok()) return (*file)->failure();
    std::vector<lease_space_stats> all;
    all.reserve(names.size());
    for (const auto& each : names) {
        auto one = stats_of(path, each);
        if (!one) return one.error();
        all.push_back(std::move(*one));
    }
    return all;
}

result<lease_limits> set_sqlite_lease_limits(const std::filesystem::path& path, const std::string& name_space,
                                             const lease_limit_change& change) {
    auto file = lease::open_existing(path);
    if (!file) return file.error();
    auto& db = **file;
    lease::space_table spaces(db);
    db.run("BEGIN IMMEDIATE");
    const auto there = spaces.find(name_space);
    if (db.ok() && !there) {
        db.fail({errc::invalid_argument, "'" + path.string() + "' has no namespace '" + name_space +
                                             "'; `shove store stats` lists what it has"});
    }
    lease_options wanted;
    if (there) wanted.limits = there->limits;
    auto& limits = wanted.limits;
    limits.retained_messages = change.retained_messages.value_or(limits.retained_messages);
    limits.subscriptions = change.subscriptions.value_or(limits.subscriptions);
    limits.attempts = change.attempts.value_or(limits.attempts);
    limits.payload_bytes = change.payload_bytes.value_or(limits.payload_bytes);
    if (auto wrong = detail::check_options(wanted)) db.fail(std::move(wrong));
    if (db.ok()) spaces.set_limits(there->id, limits);
    if (const auto done = lease::end_transaction(db); !done) return done.error();
    return limits;
}

}  // namespace shove
