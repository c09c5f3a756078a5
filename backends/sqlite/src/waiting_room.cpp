#include "waiting_room.hpp"

#include <vector>

namespace shove::sqlite_backend {

waiting_room::waiting_room(database& db)
    : add_(db, "INSERT OR REPLACE INTO parked VALUES (?1, ?2, ?3, ?4, ?5)"),
      remove_(db, "DELETE FROM parked WHERE group_id = ?1 AND seq = ?2"),
      make_ready_(db, "UPDATE parked SET due_at = 0 WHERE group_id = ?1 AND seq = ?2"),
      due_(db,
           "SELECT seq, deliveries FROM parked WHERE group_id = ?1 AND due_at > 0 AND due_at <= ?2 "
           "ORDER BY due_at, seq LIMIT ?3"),
      next_due_(db, "SELECT due_at FROM parked WHERE group_id = ?1 AND due_at > 0 ORDER BY due_at LIMIT 1"),
      count_ready_(db, "SELECT count(*) FROM (SELECT 1 FROM parked WHERE group_id = ?1 AND due_at = 0 LIMIT ?2)") {}

bool waiting_room::promote(queue_state& queue, std::int64_t now_us) {
    std::vector<parked_message> due;
    {
        auto rows = due_.query(queue.group, now_us, batch);
        while (rows.next())
            due.push_back({rows.number(0), static_cast<std::uint32_t>(rows.number(1)), false});
    }
    for (const auto& one : due) {
        // A delayed publish whose turn in the log has not come yet is an unstarted message again.
        if (one.seq > queue.cursor && one.deliveries == 0) {
            remove_.run(queue.group, one.seq);
            --queue.gaps;
        } else {
            make_ready_.run(queue.group, one.seq);
        }
    }
    return !due.empty();
}

std::optional<std::int64_t> waiting_room::next_due(std::int64_t group) {
    auto rows = next_due_.query(group);
    return rows.next() ? std::optional(rows.number(0)) : std::nullopt;
}

std::int64_t waiting_room::count_ready(std::int64_t group, std::int64_t enough) {
    auto rows = count_ready_.query(group, enough);
    return rows.next() ? rows.number(0) : 0;
}

}  // namespace shove::sqlite_backend
