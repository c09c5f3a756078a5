#pragma once

#include <shove/testkit/backend_factory.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Bookkeeping that survives the death of a process, and the test of crashes that is made of it.
namespace shove::testkit {

/// One line: what happened to which message.
struct ledger_line {
    char kind = ' ';
    std::string id;
    std::vector<std::string> fields;
};

/// A file of lines. Each line is one `write`, so a process that dies leaves whole lines, and several
/// processes may write to one file.
/// @par Thread safety  All members may be called from several threads.
class ledger {
public:
    explicit ledger(const std::filesystem::path& file);
    ledger(const ledger&) = delete;
    ledger& operator=(const ledger&) = delete;
    ~ledger();

    /// Adds a line. Neither id nor fields may hold spaces or line ends.
    void note(char kind, std::string_view id, std::string_view fields = {}) const;
    static std::vector<ledger_line> read(const std::filesystem::path& file);

private:
    int file_ = -1;
};

/// How a crash test runs.
struct crash_plan {
    unsigned points = 15;       ///< How often a child process is killed.
    std::uint64_t seed = 0;     ///< Of the moments; the same seed gives the same ones. 0: chosen, and printed.
    std::size_t consumers = 2;  ///< Of each child,
    std::size_t prefetch = 5;   ///< with so many deliveries each.
    /// Handle a sequenced topic, always two processes beside each other, of which one is killed.
    bool sequenced = false;
    /// The backend makes a dead letter and ends its original in one step. Else a crash between the two may make one
    /// more dead letter for each repeated call.
    bool dead_once = true;
};

/// What a crash test found.
struct crash_report {
    std::uint64_t seed = 0;
    std::uint64_t published = 0;        ///< Messages whose publish was confirmed,
    std::uint64_t handled = 0;          ///< and those of them that a handler saw.
    std::uint64_t doubled = 0;          ///< Calls that repeated an earlier one.
    std::vector<std::string> breaches;  ///< What must not be, in words; empty: all is well.
};

/// Starts child processes that publish and handle, and kills each at a random point. Then nothing that was
/// confirmed may be missing, rejected messages must be dead (exactly once, see `dead_once`), each repeated call must be
/// flagged `redelivered`, and there may be `prefetch * consumers` of them per crash. Of a sequenced topic, the first
/// calls of each key must keep its order through all that, and all those of one process.
/// The program must be one whose children know the factory: see `register_child_roles`.
crash_report run_crashes(const backend_factory& factory, const crash_plan& plan);

}  // namespace shove::testkit
