#pragma once

#include <shove/spi/delivery.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "offset_window.hpp"

namespace shove::kafka_backend {

/// What travels with a message that stays in its place: of one that waits for its next call, or that may have killed a
/// process.
struct kept_record {
    wall_time not_before{};  ///< To the millisecond.
    spi::history past;

    friend bool operator==(const kept_record& a, const kept_record& b);
};

/// What an owner of a partition tells its successor: the metadata of a committed offset.
struct commit_note {
    std::uint64_t fence = 0;  ///< Of the owner; rises at each takeover.
    bool clean = false;       ///< The owner left in order: nothing of it was in anybody's hands.
    std::int64_t reach = 0;   ///< Nothing at or above it was ever handed out.
    /// Messages below it that are not settled were in the hands of a process when it died, at some time.
    std::int64_t suspect_until = 0;
    std::int64_t handled_until = 0;     ///< Messages below it may have been handled before.
    std::optional<std::int64_t> alone;  ///< Only this message is being handled.
    std::vector<offset_run> settled;    ///< Above the committed offset.
    std::map<std::int64_t, kept_record> kept;

    /// The broker takes no more than this.
    static constexpr std::size_t most_bytes = 4'096;

    /// Beside which committed offset it lies. What does not fit is left out: first the texts and times of errors, then
    /// the last settled runs. What was settled above the first run left out may be handled again by a successor.
    /// Nothing: even the kept records alone do not fit.
    std::optional<std::string> write(std::int64_t position) const;
    /// Nothing: it is no note of ours.
    static std::optional<commit_note> read(std::string_view text, std::int64_t position);
};

/// What a successor makes of the last owner's note: the state in which it begins.
struct takeover {
    commit_note mine;  ///< With the new fence; not clean.
    bool unclean = false;
};
takeover take_over(std::optional<commit_note> last, std::int64_t position);

}  // namespace shove::kafka_backend
