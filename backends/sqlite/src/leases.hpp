#pragma once

#include "catalog.hpp"
#include "waiting_room.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shove::sqlite_backend {

/// The `lease` table: deliveries in flight, by owner and tag. A tag is never used twice by its
/// owner, so an answer for a lease that was taken away finds no row.
class lease_table {
public:
    explicit lease_table(database& db);

    struct lease {
        std::int64_t owner = 0;
        std::uint64_t tag = 0;
        std::int64_t group = 0;
        parked_message what;
        std::int64_t until = 0;
    };
    struct taken_back {
        lease what;
        bool solo = false;
        bool sharded = false;  ///< Of a sequenced topic, with `key`. Only from `of_owner`.
        std::string key{};
    };

    void add(const lease& what) {
        add_.run(what.owner, static_cast<std::int64_t>(what.tag), what.group, what.what.seq, what.what.deliveries,
                 what.what.maybe_handled, what.until);
    }
    /// False if the lease is lost.
    bool remove(std::int64_t owner, std::uint64_t tag) {
        return remove_.run(owner, static_cast<std::int64_t>(tag)) > 0;
    }
    bool extend(std::int64_t owner, std::uint64_t tag, std::int64_t until) {
        return extend_.run(owner, static_cast<std::int64_t>(tag), until) > 0;
    }
    /// False if the lease is lost.
    bool isolate(std::int64_t owner, std::uint64_t tag);
    /// In queue order.
    std::vector<taken_back> of_owner(std::int64_t owner);
    std::vector<taken_back> expired(std::int64_t now);
    bool any_expired(std::int64_t now);

private:
    statement add_;
    statement remove_;
    statement extend_;
    statement unmark_;
    statement mark_;
    statement of_owner_;
    statement expired_;
    statement any_expired_;
};

}  // namespace shove::sqlite_backend
