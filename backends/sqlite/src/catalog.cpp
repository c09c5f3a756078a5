#include "catalog.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

catalog::catalog(database& db)
    : db_(&db),
      load_(db,
            "SELECT q.id, g.id, q.dead_letter_queue, q.tail, g.cursor, g.gaps, g.suspect_below, q.broadcast "
            "FROM queue q JOIN reader_group g ON g.queue_id = q.id AND g.name = '' WHERE q.name = ?1"),
      // The number of the queue is the high part of its messages' numbers.
      insert_queue_(db,
                    "INSERT INTO queue (name, dead_letter_queue, tail, created_at, broadcast) "
                    "VALUES (?1, ?2, 0, ?3, ?4) ON CONFLICT (name) DO NOTHING"),
      // There are not so many numbers that each subscription could have a new one.
      insert_subscription_(db,
                           "INSERT INTO queue (id, name, tail, created_at) SELECT min(id) + 1, ?1, 0, ?2 FROM queue "
                           "WHERE NOT EXISTS (SELECT 1 FROM queue next WHERE next.id = queue.id + 1)"),
      insert_group_(db,
                    "INSERT INTO reader_group (queue_id, name, cursor, created_at) "
                    "SELECT id, '', id << ?2, created_at FROM queue WHERE name = ?1"),
      set_dead_letters_(db, "UPDATE queue SET dead_letter_queue = ?2 WHERE name = ?1"),
      save_tail_(db, "UPDATE queue SET tail = ?2 WHERE id = ?1"),
      save_cursor_(db, "UPDATE reader_group SET cursor = ?2, gaps = ?3 WHERE id = ?1"),
      fed(db) {}

queue_state* catalog::find(std::string_view name) {
    const auto known = queues_.find(name);
    if (known != queues_.end() && known->second->loaded_in == epoch_) return known->second.get();
    const auto state = known != queues_.end() ? known->second : std::make_shared<queue_state>();
    if (!load(*state, name)) return nullptr;
    if (known == queues_.end()) queues_.emplace(name, state);
    return state.get();
}

queue_state& catalog::refresh(queue_state& queue) {
    if (queue.loaded_in != epoch_) load(queue, queue.name);
    return queue;
}

bool catalog::load(queue_state& queue, std::string_view name) {
    auto rows = load_.query(name);
    if (!rows.next()) return false;
    queue.id = rows.number(0);
    queue.group = rows.number(1);
    if (queue.name.empty()) queue.name = name;
    queue.dead_letter_queue = rows.text(2);
    queue.tail = rows.number(3);
    queue.cursor = rows.number(4);
    queue.gaps = rows.number(5);
    queue.suspect_below = rows.number(6);
    queue.broadcast = rows.number(7) != 0;
    queue.note_saved();
    queue.loaded_in = epoch_;
    queue.changed = false;
    return true;
}

queue_state* catalog::declare(std::string_view name, std::string_view dead_letter_queue, std::int64_t now_us,
                              bool broadcast) {
    const auto dead_letters = dead_letter_queue.empty() ? std::nullopt : std::optional(dead_letter_queue);
    auto* queue = find(name);
    if (queue == nullptr) {
        return insert_queue_.run(name, dead_letters, now_us, broadcast) > 0 ? begin(name) : find(name);
    }
    if (!check_kind(*queue, broadcast)) return nullptr;
    if (!dead_letter_queue.empty() && queue->dead_letter_queue != dead_letter_queue) {
        set_dead_letters_.run(name, dead_letters);
        queue->dead_letter_queue = dead_letter_queue;
    }
    return queue;
}

/// The place of a queue's reader, and the first number of its log.
queue_state* catalog::begin(std::string_view name) {
    insert_group_.run(name, sequence_bits);
    auto* queue = find(name);
    if (queue != nullptr) {
        queue->tail = queue->cursor;
        touch(*queue);
    }
    return queue;
}

bool catalog::check_kind(const queue_state& queue, bool broadcast) {
    if (queue.broadcast == broadcast) return true;
    db_->fail({errc::invalid_topology, "queue '" + queue.name + "' was declared " +
                                           (broadcast ? "without broadcast(); use it without, or give another name"
                                                      : "as a broadcast; use it with broadcast()")});
    return false;
}

void catalog::feed(const queue_state& from, const queue_state& to) {
    const auto feeder = fed.feeder_of(to.id);
    if (feeder == from.id || !db_->ok()) return;
    if (feeder != 0) {
        return db_->fail({errc::invalid_topology, "queue '" + to.name + "' reads from another queue than '" +
                                                      from.name + "'; name the reader differently"});
    }
    fed.add(from.id, to.id, 0);
    forget_feeds();
}

queue_state* catalog::subscribe(const queue_state& broadcast, std::string_view name, std::int64_t owner,
                                std::int64_t now_us) {
    auto* queue = insert_subscription_.run(name, now_us) > 0 ? begin(name) : nullptr;
    if (queue == nullptr) return nullptr;
    fed.add(broadcast.id, queue->id, owner);
    forget_feeds();
    return queue;
}

void catalog::unsubscribe(const queue_state& queue) {
    fed.drop(queue.id, queue.group);
    forget_feeds();
}

void catalog::release(const queue_state& queue) {
    const auto at = queues_.find(queue.name);
    if (at == queues_.end() || at->second.get() != &queue) return;
    for (auto& [name, each] : queues_)
        std::erase(each->feeds, &queue);
    erase(queue);
}

void catalog::erase(const queue_state& queue) {
    std::erase(changed_, &queue);
    queues_.erase(queue.name);
}

const std::vector<queue_state*>& catalog::feeds_of(queue_state& queue) {
    if (queue.feeds_loaded_in == feeds_epoch_) return queue.feeds;
    const auto before = std::exchange(queue.feeds, {});
    for (const auto& one : fed.of_queue(queue.id)) {
        if (one.owner != 0) feeds_subscriptions_ = true;
        if (auto* found = find(one.name)) queue.feeds.push_back(found);
    }
    for (auto* old : before) {
        if (std::find(queue.feeds.begin(), queue.feeds.end(), old) != queue.feeds.end()) continue;
        if (old->weak_from_this().use_count() == 1) erase(*old);
    }
    if (db_->ok()) queue.feeds_loaded_in = feeds_epoch_;
    return queue.feeds;
}

void catalog::touch(queue_state& queue) {
    if (!std::exchange(queue.changed, true)) changed_.push_back(&queue);
}

void catalog::flush() {
    for (auto* queue : changed_) {
        // A publish without a claim leaves the reader's page alone, and the reverse.
        if (queue->tail != queue->saved_tail) save_tail_.run(queue->id, queue->tail);
        if (queue->cursor != queue->saved_cursor || queue->gaps != queue->saved_gaps) {
            save_cursor_.run(queue->group, queue->cursor, queue->gaps);
        }
        queue->note_saved();
        queue->changed = false;
    }
    changed_.clear();
}

void catalog::forget() noexcept {
    ++epoch_;
    ++feeds_epoch_;
    for (auto* queue : changed_)
        queue->changed = false;
    changed_.clear();
}

}  // namespace shove::sqlite_backend
