#include "claims.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace shove::sqlite_backend {

namespace {

std::string select_parked() {
    return std::string("SELECT ") + message_columns + ", " + history_columns +
           ", p.deliveries, p.maybe_handled FROM parked p JOIN message m ON m.seq = p.seq "
           "LEFT JOIN history h ON h.group_id = p.group_id AND h.seq = p.seq "
           "WHERE p.group_id = ?1 AND p.due_at = 0 ORDER BY p.seq LIMIT ?2";
}

std::string select_log(const char* also) {
    return std::string("SELECT ") + message_columns + ", " + history_columns +
           " FROM message m LEFT JOIN history h ON h.group_id = ?1 AND h.seq = m.seq "
           "WHERE m.seq > ?2 AND m.seq <= ?3 " +
           also + " ORDER BY m.seq LIMIT ?4";
}

}  // namespace

claims::claims(store& file)
    : file_(&file),
      parked_(file.db, select_parked()),
      log_(file.db, select_log("")),
      // A delayed publish has its row in `parked` before the cursor has reached it.
      log_with_gaps_(file.db,
                     select_log("AND NOT EXISTS (SELECT 1 FROM parked p WHERE p.group_id = ?1 AND p.seq = m.seq)")) {}

claimed claims::take(queue_state& queue, std::size_t max, std::optional<std::int64_t> fence) {
    claimed taken;
    bytes_ = 0;
    fence_ = fence;
    some_poisoned_ = fence && file_->keys.any(queue.group);
    file_->parked.promote(queue, file_->wall_us());
    take_parked(queue, max, taken);
    if (taken.deliveries.size() < max && bytes_ < max_bytes) take_from_log(queue, max - taken.deliveries.size(), taken);
    if (!file_->db.ok()) return {};
    return taken;
}

std::int64_t claims::available(queue_state& queue, std::int64_t enough) {
    const auto unstarted = queue.unstarted();
    return unstarted >= enough ? enough : unstarted + file_->parked.count_ready(queue.group, enough - unstarted);
}

void claims::take_parked(queue_state& queue, std::size_t max, claimed& into) {
    const auto first = into.leases.size();
    {
        auto rows = parked_.query(queue.group, max);
        while (bytes_ < max_bytes && rows.next()) {
            const row_facts facts{static_cast<std::uint32_t>(rows.number(extra_columns_begin)),
                                  rows.number(extra_columns_begin + 1) != 0};
            if (!keep(queue, rows, facts, into)) return;
        }
    }
    for (auto i = first; i < into.leases.size(); ++i) {
        file_->parked.remove(queue.group, into.leases[i].what.seq);
        lease(queue, into.leases[i]);
    }
}

void claims::take_from_log(queue_state& queue, std::size_t max, claimed& into) {
    if (queue.unstarted() == 0) {
        if (queue.cursor != queue.tail) advance(queue, queue.tail, 0);
        return;
    }
    const auto first = into.leases.size();
    bool at_end = false;
    {
        auto& log = queue.gaps > 0 ? log_with_gaps_ : log_;
        auto rows = log.query(queue.group, queue.cursor, queue.tail, max);
        while (bytes_ < max_bytes && rows.next()) {
            if (!keep(queue, rows, {}, into)) return;
        }
        at_end = bytes_ < max_bytes && into.leases.size() - first < max;
    }
    for (auto i = first; i < into.leases.size(); ++i)
        lease(queue, into.leases[i]);
    advance(queue, at_end ? queue.tail : into.leases.back().what.seq, into.leases.size() - first);
}

void claims::advance(queue_state& queue, std::int64_t to, std::size_t started) {
    queue.gaps -= to - queue.cursor - static_cast<std::int64_t>(started);
    queue.cursor = to;
    file_->queues.touch(queue);
}

bool claims::keep(const queue_state& queue, const statement::rows& row, row_facts facts, claimed& into) {
    spi::delivery one;
    one.msg = read_message(file_->db, row);
    if (!file_->db.ok()) return false;
    const auto seq = row.number(0);
    one.tag = file_->next_tag();
    one.deliveries = facts.deliveries + 1;
    one.redelivered = facts.maybe_handled || seq <= queue.suspect_below;
    one.past = read_history(row);
    if (fence_) {
        one.fence = static_cast<std::uint64_t>(*fence_);
        one.not_before = read_not_before(row);
        one.poisoned = some_poisoned_ && file_->keys.has(queue.group, one.msg.key().value_or(""));
    }
    bytes_ += one.msg.payload().size();
    into.leases.push_back({one.tag, {seq, one.deliveries, one.redelivered}, one.past != nullptr});
    into.deliveries.push_back(std::move(one));
    return true;
}

void claims::lease(const queue_state& queue, const held_lease& what) {
    file_->leases.add({file_->self(), what.tag, queue.group, what.what, file_->lease_end()});
}

}  // namespace shove::sqlite_backend
