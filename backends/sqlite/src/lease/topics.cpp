#include "topics.hpp"

#include "../schema.hpp"
#include "space.hpp"

#include <utility>

namespace shove::sqlite_backend::lease {

std::int64_t topic_state::base() const noexcept {
    return id << sequence_bits;
}

bool topic_state::exhausted() const noexcept {
    return tail + 1 >= (id + 1) << sequence_bits;
}

topic_table::topic_table(database& db)
    : db_(&db),
      find_(db, "SELECT id, tail FROM lease_topic WHERE space_id = ?1 AND name = ?2"),
      list_(db, "SELECT id, tail, name FROM lease_topic WHERE space_id = ?1"),
      groups_(db, "SELECT id, cursor, name FROM lease_group WHERE topic_id = ?1"),
      insert_(db, "INSERT INTO lease_topic (space_id, name, tail) VALUES (?1, ?2, 0)"),
      insert_group_(db, "INSERT INTO lease_group (topic_id, name, cursor) VALUES (?1, ?2, ?3)"),
      remove_group_(db, "DELETE FROM lease_group WHERE id = ?1"),
      set_tail_(db, "UPDATE lease_topic SET tail = ?2 WHERE id = ?1"),
      set_cursor_(db, "UPDATE lease_group SET cursor = ?2 WHERE id = ?1") {}

topic_state* topic_table::find(const std::string& name) {
    const auto known = known_.find(name);
    if (known != known_.end()) return &known->second;
    if (complete_) return nullptr;
    topic_state read;
    {
        auto rows = find_.query(space_, std::string_view(name));
        if (!rows.next()) return nullptr;
        read.id = rows.number(0);
        read.tail = rows.number(1);
    }
    load_groups(read);
    return db_->ok() ? &known_.emplace(name, std::move(read)).first->second : nullptr;
}

void topic_table::load_groups(topic_state& of) {
    auto rows = groups_.query(of.id);
    while (rows.next())
        of.groups.emplace(rows.text(2), group_state{rows.number(0), rows.number(1), false});
}

topic_state* topic_table::make(const std::string& name) {
    if (auto* there = find(name)) return there;
    insert_.run(space_, std::string_view(name));
    if (!db_->ok()) return nullptr;
    topic_state made;
    made.id = sqlite3_last_insert_rowid(db_->handle());
    made.tail = made.base();
    auto& kept = known_.emplace(name, std::move(made)).first->second;
    touch(kept);
    return &kept;
}

group_state* topic_table::make_group(topic_state& of, const std::string& name, std::int64_t cursor) {
    insert_group_.run(of.id, std::string_view(name), cursor);
    if (!db_->ok()) return nullptr;
    const group_state made{sqlite3_last_insert_rowid(db_->handle()), cursor, false};
    return &of.groups.emplace(name, made).first->second;
}

void topic_table::remove_group(topic_state& of, const std::string& name) {
    const auto gone = of.groups.find(name);
    expect_one(*db_, remove_group_.run(gone->second.id), "a group");
    of.groups.erase(gone);
}

std::map<std::string, topic_state, std::less<>>& topic_table::all() {
    if (complete_) return known_;
    std::map<std::string, topic_state, std::less<>> more;
    {
        auto rows = list_.query(space_);
        while (rows.next()) {
            topic_state& read = more[std::string(rows.text(2))];
            read.id = rows.number(0);
            read.tail = rows.number(1);
        }
    }
    for (auto& [name, read] : more) {
        if (known_.contains(name)) continue;
        load_groups(read);
        known_.emplace(name, std::move(read));
    }
    complete_ = db_->ok();
    return known_;
}

void topic_table::touch(topic_state& of) {
    if (!std::exchange(of.changed, true)) touched_.push_back(&of);
}

void topic_table::flush() {
    for (auto* each : std::exchange(touched_, {})) {
        each->changed = false;
        expect_one(*db_, set_tail_.run(each->id, each->tail), "a topic");
        for (auto& [name, one] : each->groups) {
            if (std::exchange(one.changed, false)) expect_one(*db_, set_cursor_.run(one.id, one.cursor), "a group");
        }
    }
}

void topic_table::forget() {
    known_.clear();
    touched_.clear();
    complete_ = false;
}

}  // namespace shove::sqlite_backend::lease
