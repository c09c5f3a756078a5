#include <shove/sqlite_store.hpp>

#include <utility>

#include "lease_store.hpp"
#include "sealing_sealer.hpp"
#include "upkeep.hpp"

namespace shove {

namespace sqlite_backend::lease {

bool lease_store::rekey(std::string_view key, rekeyed& so_far) {
    constexpr std::size_t step = 200;  // a few milliseconds, for which publishers wait
    auto& all = topics_.all();
    const auto at = all.lower_bound(so_far.topic);
    if (at == all.end()) return false;
    auto& [name, topic] = *at;
    if (std::exchange(so_far.topic, name) != name) so_far.row = topic.base();
    const auto done = messages_.rekey(topic, name, std::max(so_far.row, topic.base()), key, step);
    if (!db.ok()) return false;
    if (done.growth != 0) {
        space_.content_bytes += done.growth;
        counts_changed_ = true;
    }
    so_far.records += done.records;
    so_far.row = done.last;
    if (done.records == step) return true;
    so_far.topic += '\0';  // the least name above this one
    return all.lower_bound(so_far.topic) != all.end();
}

}  // namespace sqlite_backend::lease

namespace {

namespace lease = sqlite_backend::lease;

/// One sealed namespace; adds what was done to the report.
error rekey_space(const std::filesystem::path& path, const std::string& name, const keyring& keys,
                  const std::function<void(std::uint64_t)>& progress, sqlite_rekey_report& report) {
    lease_options as;
    as.name_space = name;
    // To open it seals the probe and the key of its fingerprints anew, where that is due.
    auto store =
        lease::lease_store::open({.path = path, .as_stored = true}, as,
                                 lease::make_sealing_sealer(keys, name, lease::system_random()), make_system_clock());
    if (!store) return store.error();
    auto& in = **store;
    ++report.name_spaces;
    lease::lease_store::rekeyed so_far;
    for (bool more = true; more;) {
        const auto before = so_far.records;
        in.begin(true);
        more = in.rekey(keys.primary().id(), so_far);
        if (!in.commit()) {
            auto failed = in.db.failure();
            in.rollback();
            return failed;
        }
        report.records += so_far.records - before;
        if (progress) progress(report.records);
    }
    return {};
}

}  // namespace

result<sqlite_rekey_report> rekey_sqlite_store(const std::filesystem::path& path, const keyring& keys,
                                               const std::function<void(std::uint64_t)>& progress) {
    auto spaces = sqlite_lease_stats(path);
    if (!spaces) return spaces.error();
    sqlite_rekey_report report;
    for (const auto& each : *spaces) {
        if (each.profile == lease::plain_profile) continue;
        if (auto failed = rekey_space(path, each.name_space, keys, progress, report)) return failed;
    }
    return report;
}

}  // namespace shove
