#include <shove/autoscaler.hpp>
#include <shove/consumer_options.hpp>
#include <shove/environment.hpp>
#include <shove/error.hpp>

#include <array>

namespace shove {
namespace {

constexpr std::array<environment_key, 3> consumer_keys{{
    {"MIN_CONSUMERS", "a whole number in 1..=65535", "1"},
    {"MAX_CONSUMERS", "a whole number in 1..=65535", "the minimum"},
    {"PREFETCH_COUNT", "a whole number in 1..=65535", "10"},
}};

constexpr std::array<environment_key, 5> autoscaler_keys{{
    {"POLL_INTERVAL_SECS", "a whole number in 1..=1000000000", "5"},
    {"SCALE_UP_MULTIPLIER", "a finite number above 0", "2.0"},
    {"SCALE_DOWN_MULTIPLIER", "a finite number above 0", "0.5"},
    {"HYSTERESIS_SECS", "a whole number in 0..=1000000000", "10"},
    {"COOLDOWN_SECS", "a whole number in 0..=1000000000", "30"},
}};

std::optional<std::uint16_t> count(const environment& from, std::string_view key) {
    return from.parse_in<std::uint16_t>(key, 1, UINT16_MAX);
}

double multiplier(const environment& from, std::string_view key, double otherwise) {
    const auto given = from.parse<double>(key);
    if (given && *given <= 0) from.refuse(key, "a finite number above 0");
    return given.value_or(otherwise);
}

/// `MIN is '5'`, or what holds without it.
std::string told(const environment& from, const environment_key& key) {
    return from.describe(key.name) + (from.text(key.name) ? "" : ", which means " + std::string(key.otherwise));
}

[[noreturn]] void refuse_both(const environment& from, const environment_key& one, const environment_key& other,
                              const std::string& expected) {
    throw exception(error(errc::invalid_argument,
                          "the variable " + told(from, one) + ", and " + told(from, other) + "; expected " + expected));
}

}  // namespace

consumer_options consumer_options_from(const environment& from) {
    consumer_options options;
    const auto least = count(from, "MIN_CONSUMERS");
    const auto most = count(from, "MAX_CONSUMERS");
    const consumer_range range(least.value_or(1), most.value_or(least.value_or(1)));
    if (range.min > range.max) refuse_both(from, consumer_keys[0], consumer_keys[1], "a minimum up to the maximum");
    if (least || most) options.consumers = range;
    if (const auto prefetch = count(from, "PREFETCH_COUNT")) options.prefetch = *prefetch;
    return options;
}

std::span<const environment_key> consumer_environment_keys() noexcept {
    return consumer_keys;
}

autoscaler_options autoscaler_options_from(const environment& from) {
    autoscaler_options options;
    if (const auto given = from.secs("POLL_INTERVAL_SECS", 1)) options.poll = *given;
    options.up = multiplier(from, "SCALE_UP_MULTIPLIER", options.up);
    options.down = multiplier(from, "SCALE_DOWN_MULTIPLIER", options.down);
    if (options.down >= options.up) {
        refuse_both(from, autoscaler_keys[2], autoscaler_keys[1], "the first under the second");
    }
    if (const auto given = from.secs("HYSTERESIS_SECS")) options.hysteresis = *given;
    if (const auto given = from.secs("COOLDOWN_SECS")) options.cooldown = *given;
    return options;
}

std::span<const environment_key> autoscaler_environment_keys() noexcept {
    return autoscaler_keys;
}

}  // namespace shove
