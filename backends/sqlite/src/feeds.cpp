#include "feeds.hpp"

#include "schema.hpp"

#include <utility>

namespace shove::sqlite_backend {

feed_table::feed_table(database& db)
    : add_(db, "INSERT INTO feed VALUES (?1, ?2, ?3)"),
      feeder_(db, "SELECT queue_id FROM feed WHERE feed_id = ?1"),
      of_queue_(db,
                "SELECT q.name, f.owner FROM feed f JOIN queue q ON q.id = f.feed_id WHERE f.queue_id = ?1 "
                "ORDER BY f.feed_id"),
      of_owner_(db,
                "SELECT feed_id, id FROM feed CROSS JOIN reader_group ON reader_group.queue_id = feed_id AND name = '' "
                "WHERE owner = ?1"),
      remove_group_(db, "DELETE FROM reader_group WHERE id = ?1"),
      remove_messages_(db, "DELETE FROM message WHERE seq > ?1 AND seq < ?2"),
      remove_parked_(db, "DELETE FROM parked WHERE group_id = ?1"),
      remove_histories_(db, "DELETE FROM history WHERE group_id = ?1"),
      remove_leases_(db, "DELETE FROM lease WHERE group_id = ?1"),
      remove_feed_(db, "DELETE FROM feed WHERE feed_id = ?1"),
      remove_queue_(db, "DELETE FROM queue WHERE id = ?1") {}

std::int64_t feed_table::feeder_of(std::int64_t fed) {
    auto rows = feeder_.query(fed);
    return rows.next() ? rows.number(0) : 0;
}

std::vector<feed_table::feed> feed_table::of_queue(std::int64_t queue) {
    std::vector<feed> found;
    auto rows = of_queue_.query(queue);
    while (rows.next())
        found.push_back({std::string(rows.text(0)), rows.number(1)});
    return found;
}

void feed_table::drop(std::int64_t fed, std::int64_t group) {
    if (remove_group_.run(group) == 0) return;  // gone by now
    remove_messages_.run(fed << sequence_bits, (fed + 1) << sequence_bits);
    remove_parked_.run(group);
    remove_histories_.run(group);
    remove_leases_.run(group);
    remove_feed_.run(fed);
    remove_queue_.run(fed);
}

void feed_table::drop_all(std::int64_t owner) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    {
        auto rows = of_owner_.query(owner);
        while (rows.next())
            all.emplace_back(rows.number(0), rows.number(1));
    }
    for (const auto& [fed, group] : all)
        drop(fed, group);
}

}  // namespace shove::sqlite_backend
