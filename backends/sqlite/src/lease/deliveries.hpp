#pragma once

#include "../database.hpp"

#include <shove/lease_id.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::sqlite_backend::lease {

/// What is not simply "not started" or "finished" of a message for a group.
enum class delivery_state : std::uint8_t {
    waiting,  ///< Again: `at` is when it is due, of the calendar in ms; 0: it is.
    leased,   ///< `at` is when its lease ends, steady time in µs.
    dead,     ///< `at` is when it died, of the calendar in ms.
};

class delivery_table {
public:
    explicit delivery_table(database& db);

    struct row {
        std::int64_t group = 0;
        std::int64_t seq = 0;
        std::int64_t space = 0;
        std::int64_t at = 0;
        std::int64_t attempts = 0;
    };
    /// The lease of a token.
    std::optional<row> by_token(const lease_token& token);

    struct waiting {
        std::int64_t seq = 0;
        std::int64_t attempts = 0;
    };
    /// What is due, lowest first.
    std::vector<waiting> ready(std::int64_t group, std::size_t most);
    /// Leases that have ended.
    std::vector<waiting> ended(std::int64_t group, std::int64_t steady_us);
    /// Marks what is due; later `ready` gives it.
    void wake(std::int64_t group, std::int64_t now_ms);

    /// Leases a message for the first time, or again.
    void lease(std::int64_t group, std::int64_t seq, bool first, std::int64_t attempts, const lease_token& token,
               std::string_view consumer, std::int64_t until_us);
    void extend(std::int64_t group, std::int64_t seq, std::int64_t until_us);
    void finish(std::int64_t group, std::int64_t seq);
    void wait(std::int64_t group, std::int64_t seq, std::int64_t due_ms, std::string_view code);
    void bury(std::int64_t group, std::int64_t seq, std::string_view code, std::int64_t now_ms);
    /// False: it is no dead letter of the group.
    bool redrive(std::int64_t group, std::int64_t seq);
    std::vector<std::int64_t> dead_rows(std::int64_t group, std::size_t most);

    struct letter {
        std::int64_t seq = 0;
        std::int64_t at = 0;
        std::int64_t attempts = 0;
        std::string consumer;
        std::string code;
    };
    std::vector<letter> letters(std::int64_t group, std::int64_t after, std::size_t most);

    void forget_message(std::int64_t topic, std::int64_t seq);
    void forget_group(std::int64_t group);
    std::int64_t count(std::int64_t group, delivery_state state);
    /// The lowest `at` of a state: the next lease to end, or the next message to be due.
    std::optional<std::int64_t> next(std::int64_t group, delivery_state state);

private:
    database* db_;
    statement by_token_;
    statement ready_;
    statement ended_;
    statement wake_;
    statement insert_;
    statement again_;
    statement extend_;
    statement finish_;
    statement wait_;
    statement bury_;
    statement redrive_;
    statement dead_rows_;
    statement letters_;
    statement forget_message_;
    statement forget_group_;
    statement count_;
    statement next_;
};

}  // namespace shove::sqlite_backend::lease
