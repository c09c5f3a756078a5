#pragma once

#include <shove/testkit/fault_ledger.hpp>
#include <shove/testkit/ledger.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shove::testkit {

/// The kinds of lines in the book of a fault ledger. Ids are numbers, in the order of publishing.
namespace fault_lines {
// A publish was reported so:
constexpr char confirmed = 'P';
constexpr char failed = 'X';
constexpr char unknown = 'U';
/// Attempt and `redelivered` or `first`: a call began.
constexpr char called = 'H';
/// A fault begins, and it has hit. Its name, with `all` or `one` for the consumers that it may concern.
constexpr char harm = 'F';
constexpr char harmed = 'E';
}  // namespace fault_lines

/// What becomes of each message of a fault ledger, by its number.
class message_fates {
public:
    explicit message_fates(std::uint64_t seed) noexcept : seed_(seed) {}
    /// Calls until its end, where nothing goes wrong.
    unsigned attempts(std::uint64_t number) const noexcept;
    /// Whether the last one rejects it.
    bool is_rejected(std::uint64_t number) const noexcept;
    /// How long a call takes.
    std::chrono::microseconds duration(std::uint64_t number) const noexcept;
    static std::uint64_t key(std::uint64_t number) noexcept;

private:
    std::uint64_t dice(std::uint64_t number, std::uint64_t which) const noexcept;
    std::uint64_t seed_;
};

/// Shards of a fault ledger's sequenced topic.
constexpr std::uint16_t fault_shards = 4;

/// Compares what was noted with what had to be. Pure.
/// @param lines  in the order in which things happened, of all processes.
/// @param dead   the ids of all dead letters; of those with a wrong reason it is no number.
/// @param into   gets the counts and the breaches.
void judge_faults(const std::vector<ledger_line>& lines, const std::vector<std::string>& dead, const fault_plan& plan,
                  fault_report& into);

}  // namespace shove::testkit
