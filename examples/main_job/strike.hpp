#pragma once

#include <shove/topic.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

// The messages of the job. The feed forwards what it read; the consumer is strict. Both share one queue, as two
// programs of two teams would.
namespace main_job {

inline constexpr auto strike_queue =
    shove::topology("strikes").hold(std::chrono::milliseconds(200)).hold(std::chrono::seconds(1)).dlq();

/// A record as the feed publishes it: words in lower case, otherwise as they stand in the file.
struct feed_record {
    std::uint32_t record = 0;  ///< Its line in the file, without the header.
    std::string airport;
    std::string aircraft;
    std::string damage;
    std::string date;
    std::string airline;
    std::string state;
    std::string phase;
    std::string size;
    std::string species;
    std::string time_of_day;
    std::int64_t cost_other = 0;
    std::int64_t cost_repair = 0;
    std::optional<std::int32_t> speed_knots;
};
BOOST_DESCRIBE_STRUCT(feed_record, (),
                      (record, airport, aircraft, damage, date, airline, state, phase, size, species, time_of_day,
                       cost_other, cost_repair, speed_knots))

struct feed : shove::topic<feed_record> {
    static constexpr auto topology = strike_queue;
};

enum class damage_level : std::uint8_t { none, minor, medium, substantial };
BOOST_DESCRIBE_ENUM(damage_level, none, minor, medium, substantial)

enum class flight_phase : std::uint8_t { parked, taxi, take_off_run, climb, descent, approach, landing_roll };
BOOST_DESCRIBE_ENUM(flight_phase, parked, taxi, take_off_run, climb, descent, approach, landing_roll)

enum class animal_size : std::uint8_t { small, medium, large };
BOOST_DESCRIBE_ENUM(animal_size, small, medium, large)

/// What the consumer needs to know of a strike. Damage and phase are names; a record with another one cannot be
/// decoded.
struct strike {
    std::uint32_t record = 0;
    std::string airport;
    std::string species;
    damage_level damage = damage_level::none;
    flight_phase phase = flight_phase::parked;
    animal_size size = animal_size::small;
    std::int64_t cost_other = 0;
    std::int64_t cost_repair = 0;
    std::optional<std::int32_t> speed_knots;
};
BOOST_DESCRIBE_STRUCT(strike, (), (record, airport, species, damage, phase, size, cost_other, cost_repair, speed_knots))

struct strikes : shove::topic<strike> {
    static constexpr auto topology = strike_queue;
};

/// The fix: the damage may also be a military mishap class.
enum class damage_code : std::uint8_t { none, minor, medium, substantial, a, b, c };
BOOST_DESCRIBE_ENUM(damage_code, none, minor, medium, substantial, a, b, c)

struct any_strike {
    std::uint32_t record = 0;
    std::string airport;
    std::string species;
    damage_code damage = damage_code::none;
    flight_phase phase = flight_phase::parked;
    animal_size size = animal_size::small;
    std::int64_t cost_other = 0;
    std::int64_t cost_repair = 0;
    std::optional<std::int32_t> speed_knots;
};
BOOST_DESCRIBE_STRUCT(any_strike, (),
                      (record, airport, species, damage, phase, size, cost_other, cost_repair, speed_knots))

struct any_strikes : shove::topic<any_strike> {
    static constexpr auto topology = strike_queue;
};

/// A mishap of class A, B or C cost five figures or more: substantial damage.
strike to_strike(const any_strike& from);

/// Why a strike contradicts itself; empty: it does not.
std::string contradiction(const strike& in);

}  // namespace main_job
