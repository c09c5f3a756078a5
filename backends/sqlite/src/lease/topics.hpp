#pragma once

#include "../database.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shove::sqlite_backend::lease {

/// A group of a topic: all messages up to the cursor were started, or lie before its beginning.
struct group_state {
    std::int64_t id = 0;
    std::int64_t cursor = 0;  ///< A row's number, as the topic's tail.
    bool changed = false;
};

/// A topic: its messages have the row numbers `id << sequence_bits | sequence`.
struct topic_state {
    std::int64_t id = 0;
    std::int64_t tail = 0;  ///< The last row number given; the topic's first is one above `base()`.
    bool changed = false;
    std::map<std::string, group_state, std::less<>> groups;

    std::int64_t base() const noexcept;
    std::uint64_t sequence_of(std::int64_t row) const noexcept { return static_cast<std::uint64_t>(row - base()); }
    std::int64_t row_of(std::uint64_t sequence) const noexcept { return base() + static_cast<std::int64_t>(sequence); }
    bool exhausted() const noexcept;
};

/// A namespace's topics and groups. Kept between transactions as long as no other connection writes; changes are
/// written once, before the commit.
class topic_table {
public:
    explicit topic_table(database& db);
    void use(std::int64_t space) noexcept { space_ = space; }

    /// Null if it is not there. The address holds until `forget`.
    topic_state* find(const std::string& name);
    topic_state* make(const std::string& name);
    group_state* make_group(topic_state& of, const std::string& name, std::int64_t cursor);
    void remove_group(topic_state& of, const std::string& name);
    /// All of them, in order of their names.
    std::map<std::string, topic_state, std::less<>>& all();

    /// Its tail or a group's cursor was changed: `flush` writes it.
    void touch(topic_state& of);
    void flush();
    /// Something else may be true now: another connection has written, or our changes were rolled back.
    void forget();

private:
    void load_groups(topic_state& of);

    database* db_;
    std::int64_t space_ = 0;
    std::map<std::string, topic_state, std::less<>> known_;
    bool complete_ = false;
    std::vector<topic_state*> touched_;
    statement find_;
    statement list_;
    statement groups_;
    statement insert_;
    statement insert_group_;
    statement remove_group_;
    statement set_tail_;
    statement set_cursor_;
};

}  // namespace shove::sqlite_backend::lease
