#include "catalog.hpp"

#include <utility>

namespace shove::sqlite_backend {

catalog::catalog(database& db)
    : load_(db,
            "SELECT q.id, g.id, q.dead_letter_queue, q.tail, g.cursor, g.gaps, g.suspect_below FROM queue q "
            "JOIN reader_group g ON g.queue_id = q.id AND g.name = '' WHERE q.name = ?1"),
      // The number of the queue is the high part of its messages' numbers.
      insert_queue_(db,
                    "INSERT INTO queue (name, dead_letter_queue, tail, created_at) VALUES (?1, ?2, 0, ?3) "
                    "ON CONFLICT (name) DO NOTHING"),
      insert_group_(db,
                    "INSERT INTO reader_group (queue_id, name, cursor, created_at) "
                    "SELECT id, '', id << ?2, created_at FROM queue WHERE name = ?1"),
      set_dead_letters_(db, "UPDATE queue SET dead_letter_queue = ?2 WHERE name = ?1"),
      save_tail_(db, "UPDATE queue SET tail = ?2 WHERE id = ?1"),
      save_cursor_(db, "UPDATE reader_group SET cursor = ?2, gaps = ?3 WHERE id = ?1") {}

queue_state* catalog::find(std::string_view name) {
    const auto known = queues_.find(name);
    if (known != queues_.end() && known->second.loaded_in == epoch_) return &known->second;
    queue_state fresh;
    if (!load(fresh, name)) return nullptr;
    auto& kept = queues_[std::string(name)];
    fresh.holder = kept.holder;
    kept = std::move(fresh);
    return &kept;
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
    queue.note_saved();
    queue.loaded_in = epoch_;
    queue.changed = false;
    return true;
}

queue_state* catalog::declare(std::string_view name, std::string_view dead_letter_queue, std::int64_t now_us) {
    const auto dead_letters = dead_letter_queue.empty() ? std::nullopt : std::optional(dead_letter_queue);
    auto* queue = find(name);
    if (queue == nullptr) {
        if (insert_queue_.run(name, dead_letters, now_us) > 0) {
            insert_group_.run(name, sequence_bits);
        }
        queue = find(name);
        if (queue != nullptr) {
            queue->tail = queue->cursor;
            touch(*queue);
        }
    } else if (!dead_letter_queue.empty() && queue->dead_letter_queue != dead_letter_queue) {
        set_dead_letters_.run(name, dead_letters);
        queue->dead_letter_queue = dead_letter_queue;
    }
    return queue;
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
    for (auto* queue : changed_)
        queue->changed = false;
    changed_.clear();
}

}  // namespace shove::sqlite_backend
