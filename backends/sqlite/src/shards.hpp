#pragma once

#include "database.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shove::sqlite_backend {

/// The `shard` table: which owner reads a sequenced topic's shard, alone, and until when unless it renews that.
/// `fence` rises each time the shard goes to another reader.
class shard_table {
public:
    explicit shard_table(database& db);

    struct hold {
        std::int64_t group = 0;
        std::int64_t owner = 0;
    };

    /// Whether `self` has the shard or may take it. Reads only.
    bool open_to(std::int64_t group, std::int64_t self);
    /// Takes or renews the shard for `self`; gives its fence, or nothing if another owner has it.
    /// @param anew  It goes to another reader of this owner: the fence rises.
    std::optional<std::int64_t> take(std::int64_t group, std::int64_t self, bool anew, std::int64_t until);
    /// False if it is lost.
    bool extend(std::int64_t group, std::int64_t self, std::int64_t until) {
        return extend_.run(group, self, until) > 0;
    }
    void free(std::int64_t group, std::int64_t self) { free_.run(group, self); }
    void free_all(std::int64_t owner) { free_all_.run(owner); }
    std::vector<hold> expired(std::int64_t now);

private:
    statement find_;
    statement insert_;
    statement take_;
    statement extend_;
    statement free_;
    statement free_all_;
    statement expired_;
};

/// The `poisoned_key` table: keys whose messages are dead-lettered unhandled until an operator releases them.
class key_table {
public:
    explicit key_table(database& db);

    void poison(std::int64_t group, std::string_view key, std::int64_t since) { poison_.run(group, key, since); }
    bool release(std::int64_t group, std::string_view key) { return release_.run(group, key) > 0; }
    bool any(std::int64_t group) { return any_.query(group).next(); }
    bool has(std::int64_t group, std::string_view key) { return has_.query(group, key).next(); }

private:
    statement poison_;
    statement release_;
    statement any_;
    statement has_;
};

}  // namespace shove::sqlite_backend
