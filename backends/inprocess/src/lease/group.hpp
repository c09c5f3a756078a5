#pragma once

#include "topic_log.hpp"

#include <shove/clock.hpp>
#include <shove/lease_options.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shove::inprocess_backend::lease {

/// When something happens: the calendar for what people see, steady time for leases, which a step of the calendar
/// neither ends nor extends.
struct moment {
    std::int64_t wall_ms = 0;
    steady_time steady{};
};

class group;

struct token_hash {
    std::size_t operator()(const lease_token& t) const noexcept {
        std::size_t bits = 0;
        __builtin_memcpy(&bits, t.bytes().data(), sizeof bits);  // random: any of its bits will do
        return bits;
    }
};

/// Whose leases the tokens of all groups are.
struct held_at {
    group* who = nullptr;
    sequence number = 0;
};
using token_table = std::unordered_map<lease_token, held_at, token_hash>;

/// What one group knows of its topic's messages. A message is, for the group, one of: not started (its number is
/// above the cursor), waiting again, leased, dead, or finished (nothing is known of it any more).
class group {
public:
    struct dead {
        std::string consumer;
        std::string code;
        std::uint32_t attempts = 0;
        std::int64_t at_ms = 0;
    };

    group(std::string name, sequence cursor, token_table& tokens)
        : name_(std::move(name)), cursor_(cursor), tokens_(tokens) {}
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    const std::string& name() const noexcept { return name_; }

    /// Gives back what leases have ended, or gives it up.
    void sweep(const moment& now, const lease_limits& limits);
    /// Moves what is due to what is ready; dead-letters what has no attempt left (the limit was lowered).
    void wake(const moment& now, const lease_limits& limits);
    /// How many could be leased now, at most `most`.
    std::size_t available(const topic_log& log, std::size_t most) const;
    /// Leases the next one. Call it no more often than `available` says.
    leased take(const topic_log& log, const lease_request& what, const lease_token& token, const moment& now);

    /// Settles a lease that is still good, or ends it where it is not.
    result<lease_settled> settle(sequence number, const lease_settlement& how, const moment& now,
                                 const lease_limits& limits);

    /// Nothing more will be done with it, unless it is a dead letter that is redriven.
    bool finished(sequence number) const { return number <= cursor_ && !active_.contains(number); }
    bool is_dead(sequence number) const { return dead_.contains(number); }
    sequence cursor() const noexcept { return cursor_; }
    void forget(sequence number) { dead_.erase(number); }
    const std::map<sequence, dead>& dead_letters() const noexcept { return dead_; }
    /// False: it is no dead letter.
    bool redrive(sequence number, std::int64_t now_ms);

    /// When `wake` or `sweep` will have something to do next.
    std::optional<steady_time> next_change(const moment& now) const;
    lease_group_stats count(const topic_log& log) const;

private:
    struct entry {
        std::uint32_t attempts = 0;
        std::int64_t due_ms = 0;           ///< Waiting.
        steady_time ends{};                ///< Leased.
        std::optional<lease_token> token;  ///< Leased.
        std::string consumer;
    };
    using active_map = std::map<sequence, entry>;

    void release(active_map::iterator which);
    void park(active_map::iterator which, std::int64_t due_ms);
    void bury(active_map::iterator which, std::string code, std::int64_t now_ms);
    void end(active_map::iterator which, const moment& now, const lease_limits& limits);

    const std::string name_;
    sequence cursor_;
    token_table& tokens_;
    active_map active_;
    std::set<sequence> ready_;
    std::set<std::pair<std::int64_t, sequence>> delayed_;
    std::set<std::pair<steady_time, sequence>> ends_;
    std::map<sequence, dead> dead_;
};

}  // namespace shove::inprocess_backend::lease
