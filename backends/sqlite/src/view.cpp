#include "view.hpp"

#include "message_table.hpp"
#include "schema.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace shove::sqlite_backend {

namespace {

/// One snapshot for all statements of an answer.
class snapshot {
public:
    explicit snapshot(database& db) : db_(&db) { db.run("BEGIN"); }
    snapshot(const snapshot&) = delete;
    snapshot& operator=(const snapshot&) = delete;
    ~snapshot() {
        if (db_->in_transaction()) sqlite3_exec(db_->handle(), "COMMIT", nullptr, nullptr, nullptr);
    }

private:
    database* db_;
};

/// Waiting are the messages after the cursor, and those that are parked. The others are in flight.
std::string select_page() {
    return std::string("SELECT ") + message_columns + ", " + history_columns +
           " FROM message m LEFT JOIN history h ON h.group_id = ?1 AND h.seq = m.seq "
           "WHERE m.seq > ?2 AND m.seq <= ?3 AND (m.seq > ?4 OR EXISTS "
           "(SELECT 1 FROM parked p WHERE p.group_id = ?1 AND p.seq = m.seq)) ORDER BY m.seq LIMIT ?5";
}

}  // namespace

view::view(const database::options& settings, std::shared_ptr<clock> time)
    : db_(settings),
      time_(std::move(time)),
      find_(db_,
            "SELECT g.id, q.tail, g.cursor, g.gaps, q.id FROM queue q JOIN reader_group g "
            "ON g.queue_id = q.id AND g.name = '' WHERE q.name = ?1"),
      count_ready_(db_, "SELECT count(*) FROM parked WHERE group_id = ?1 AND due_at <= ?2"),
      count_delayed_(db_, "SELECT count(*) FROM parked WHERE group_id = ?1 AND due_at > ?2"),
      count_leased_(db_, "SELECT count(*) FROM lease WHERE group_id = ?1"),
      oldest_in_log_(db_,
                     "SELECT published_at FROM message m WHERE seq > ?2 AND seq <= ?3 AND NOT EXISTS "
                     "(SELECT 1 FROM parked p WHERE p.group_id = ?1 AND p.seq = m.seq) ORDER BY seq LIMIT 1"),
      oldest_parked_(db_,
                     "SELECT m.published_at FROM parked p JOIN message m ON m.seq = p.seq "
                     "WHERE p.group_id = ?1 AND p.due_at = 0 ORDER BY p.seq LIMIT 1"),
      names_(db_, "SELECT name, dead_letter_queue FROM queue ORDER BY name"),
      browse_(db_, select_page()),
      poisoned_(db_, "SELECT key, since FROM poisoned_key WHERE group_id = ?1 ORDER BY key") {}

view::place view::find(std::string_view queue) {
    auto rows = find_.query(queue);
    if (rows.next())
        return {rows.number(0), rows.number(1), rows.number(2), rows.number(3), rows.number(4) << sequence_bits};
    db_.fail({errc::unknown_queue,
              std::string("queue '").append(queue).append("' was never declared in '") + db_.path().string() + "'"});
    return {};
}

spi::queue_depth view::depth(std::string_view queue) {
    const snapshot now(db_);
    const auto at = find(queue);
    return db_.ok() ? measure(at) : spi::queue_depth{};
}

spi::queue_depth view::measure(const place& at) {
    const auto count = [](statement::rows rows) -> std::uint64_t {
        return rows.next() ? static_cast<std::uint64_t>(rows.number(0)) : 0;
    };
    const auto now = to_microseconds(time_->wall());
    spi::queue_depth made;
    made.ready = static_cast<std::uint64_t>(std::max<std::int64_t>(0, at.tail - at.cursor - at.gaps)) +
                 count(count_ready_.query(at.group, now));
    made.delayed = count(count_delayed_.query(at.group, now));
    made.in_flight = count(count_leased_.query(at.group));
    const auto note_age = [&](statement::rows rows) {
        if (!rows.next() || rows.is_null(0)) return;
        const milliseconds age(std::max<std::int64_t>(0, now - rows.number(0)) / 1000);
        made.oldest_age = std::max(age, made.oldest_age.value_or(milliseconds(0)));
    };
    if (at.tail - at.cursor > at.gaps) note_age(oldest_in_log_.query(at.group, at.cursor, at.tail));
    note_age(oldest_parked_.query(at.group));
    return made;
}

std::vector<spi::queue_info> view::list() {
    const snapshot now(db_);
    std::vector<spi::queue_info> all;
    {
        auto rows = names_.query();
        while (rows.next()) {
            auto& one = all.emplace_back();
            one.name = rows.text(0);
            one.dead_letter_queue = rows.text(1);
        }
    }
    for (auto& one : all)
        one.depth = measure(find(one.name));
    for (auto& one : all) {
        const auto dead = std::lower_bound(all.begin(), all.end(), one.dead_letter_queue,
                                           [](const auto& info, const auto& name) { return info.name < name; });
        if (dead == all.end() || dead->name != one.dead_letter_queue) continue;
        one.dead = dead->depth.ready + dead->depth.delayed + dead->depth.in_flight;
    }
    return all;
}

std::vector<spi::poisoned_key> view::poisoned(const std::vector<std::string>& queues) {
    const snapshot now(db_);
    std::vector<spi::poisoned_key> all;
    for (const auto& queue : queues) {
        const auto at = find(queue);
        auto rows = poisoned_.query(at.group);
        while (rows.next())
            all.push_back({queue, std::string(rows.text(0)), from_microseconds(rows.number(1))});
    }
    return all;
}

std::vector<spi::browsed> view::browse(std::string_view queue, std::uint64_t after, std::size_t max) {
    const snapshot now(db_);
    std::vector<spi::browsed> page;
    const auto at = find(queue);
    const auto first = std::max(static_cast<std::int64_t>(std::min<std::uint64_t>(after, INT64_MAX)), at.first);
    auto rows = browse_.query(at.group, first, at.tail, at.cursor, std::min<std::size_t>(max, INT32_MAX));
    std::size_t bytes = 0;
    while (bytes < max_page_bytes && rows.next()) {
        spi::browsed one;
        one.cursor = static_cast<std::uint64_t>(rows.number(0));
        one.msg = read_message(db_, rows);
        one.past = read_history(rows);
        bytes += one.msg.payload().size();
        page.push_back(std::move(one));
    }
    return page;
}

}  // namespace shove::sqlite_backend
