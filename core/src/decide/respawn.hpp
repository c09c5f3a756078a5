#pragma once

#include <shove/clock.hpp>

#include <cstdint>
#include <optional>

#include "backoff.hpp"

namespace shove::decide {

/// The numbers of `respawn`.
struct respawn_times {
    milliseconds base{1'000};         ///< Wait before the first round; doubles with each that fails.
    milliseconds max{60'000};         ///< Longest wait with a closed circuit.
    std::uint32_t rounds_to_open{5};  ///< Failed rounds in a row that open the circuit.
    milliseconds probe{300'000};      ///< Between the probes of an open circuit.
    milliseconds stands{60'000};      ///< A round that lasted so long has succeeded.
};

/// Replaces consumers that died, in rounds: a round starts as many as are missing, after a wait that doubles with
/// each round that failed (a consumer died again before the round had stood for a while). After five failed
/// rounds in a row the circuit opens: then a single consumer is tried every five minutes, until one stands.
///
/// A machine without a clock: it is shown the time and how many consumers live, and says what to do and
/// when to look again.
class respawn {
public:
    /// What happened to the circuit, to be said.
    enum class event : std::uint8_t { none, opened, probing, closed };

    struct action {
        std::uint32_t spawn = 0;           ///< Consumers to start now.
        std::optional<steady_time> again;  ///< Look again then, or when a consumer ended.
        event what = event::none;
    };

    explicit respawn(const respawn_times& times = {}) noexcept : times_(times), wait_(times.base, times.max) {}

    /// @param live    Consumers that run.
    /// @param target  Consumers that should.
    /// @param random  Any evenly spread number: the jitter of the wait.
    action look(steady_time now, std::uint32_t live, std::uint32_t target, std::uint64_t random);

    /// Rounds that failed in a row.
    std::uint32_t streak() const noexcept { return streak_; }
    bool open() const noexcept { return open_; }

private:
    struct round {
        steady_time began;
        std::uint32_t goal;
    };

    bool judge_round(steady_time now, std::uint32_t live, action& done);
    void succeed(action& done) noexcept;
    void fail(action& done) noexcept;
    void begin_round(steady_time now, std::uint32_t live, std::uint32_t target, action& done);

    respawn_times times_;
    backoff wait_;
    std::uint32_t streak_ = 0;
    bool open_ = false;
    std::optional<round> round_;
    std::optional<steady_time> next_;  ///< When the next round begins.
};

}  // namespace shove::decide
