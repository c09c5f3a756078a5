#pragma once

#include "database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shove::sqlite_backend {

/// The `feed` table: queues that get a copy of each message published to another one. A reader group's is for good
/// (owner 0); one of a broadcast's subscription goes, with all that is in it, when its owner does.
class feed_table {
public:
    explicit feed_table(database& db);

    struct feed {
        std::string name;
        std::int64_t owner = 0;
    };

    void add(std::int64_t queue, std::int64_t fed, std::int64_t owner) { add_.run(fed, queue, owner); }
    /// The queue that feeds this one; 0: none.
    std::int64_t feeder_of(std::int64_t fed);
    std::vector<feed> of_queue(std::int64_t queue);
    /// Removes a subscription's queue. `group` says which one: numbers of queues are used again.
    void drop(std::int64_t fed, std::int64_t group);
    /// Those of all subscriptions of an owner.
    void drop_all(std::int64_t owner);

private:
    statement add_;
    statement feeder_;
    statement of_queue_;
    statement of_owner_;
    statement remove_group_;
    statement remove_messages_;
    statement remove_parked_;
    statement remove_histories_;
    statement remove_leases_;
    statement remove_feed_;
    statement remove_queue_;
};

}  // namespace shove::sqlite_backend
