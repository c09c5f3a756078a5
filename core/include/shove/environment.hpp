#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace shove {

struct autoscaler_options;
struct consumer_options;

/// What a variable can be read as by `environment::parse`.
template <class T>
concept environment_number = (std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T>;

/// Variables `{PREFIX}_{KEY}`, read as values. Nothing of shove looks at the environment unless it is given one of
/// these. Each member gives nothing where the variable is missing, empty or blank, so that `value_or` says the default.
/// @par Errors  A variable that is set and bad throws `exception` (`invalid_argument`), which names the variable, the
///   value and what was expected. The value is left out where the name speaks of a secret: PASSWORD, TOKEN, SECRET,
///   KEY.
/// @par Thread safety  Distinct objects and const members: safe.
class environment {
public:
    using variables = std::map<std::string, std::string, std::less<>>;

    /// Takes down the process's variables of that prefix, as they are now. Empty prefix: names are keys.
    /// No other thread may change the environment meanwhile.
    static environment from_env(std::string_view prefix);
    /// The same from given variables, by their full names.
    static environment from_pairs(std::string_view prefix, variables given);

    /// The full name of a key's variable.
    std::string name_of(std::string_view key) const;
    /// Name and value as errors show them: `PORT is 'x'`, `PORT is not set`.
    std::string describe(std::string_view key) const;

    /// The value, without white space around it. It must be UTF-8.
    std::optional<std::string> text(std::string_view key) const;
    /// A number. Of a floating type it must be finite.
    template <environment_number T>
    std::optional<T> parse(std::string_view key) const {
        return parse_in<T>(key, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
    }
    /// A number from `low` to `high`, both included.
    template <environment_number T>
    std::optional<T> parse_in(std::string_view key, T low, T high) const {
        std::optional<wide<T>> found = number(key, wide<T>{low}, wide<T>{high});
        return found ? std::optional(static_cast<T>(*found)) : std::nullopt;
    }
    /// `true`, `1`, `yes`, `on`, or `false`, `0`, `no`, `off`, in any case.
    std::optional<bool> flag(std::string_view key) const;
    /// A whole number of seconds, `low` at least and a billion (some 31 years) at most.
    std::optional<std::chrono::seconds> secs(std::string_view key, std::uint64_t low = 0) const;
    /// One of these names; case, `-` and `_` do not count: `choice<mode>("MODE", {{"work_queue", mode::work_queue}})`.
    template <class T>
    std::optional<T> choice(std::string_view key,
                            std::initializer_list<std::pair<std::string_view, std::type_identity_t<T>>> known) const {
        const auto given = text(key);
        if (!given) return std::nullopt;
        std::string names;
        for (const auto& [name, value] : known) {
            if (same_choice(*given, name)) return value;
            names += (names.empty() ? "" : ", ") + std::string(name);
        }
        refuse(key, "one of " + names);
    }
    /// Throws what the members above throw; for rules of your own.
    /// @param expected  What the value should be: "a port".
    [[noreturn]] void refuse(std::string_view key, std::string_view expected) const;

private:
    template <class T>
    using wide = std::conditional_t<std::floating_point<T>, double,
                                    std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>;

    environment(std::string_view prefix, variables given) : prefix_(prefix), given_(std::move(given)) {}
    std::optional<std::int64_t> number(std::string_view key, std::int64_t low, std::int64_t high) const;
    std::optional<std::uint64_t> number(std::string_view key, std::uint64_t low, std::uint64_t high) const;
    std::optional<double> number(std::string_view key, double low, double high) const;
    static bool same_choice(std::string_view given, std::string_view name) noexcept;

    std::string prefix_;
    variables given_;
};

/// A variable that one of the readers below looks at.
struct environment_key {
    std::string_view name;       ///< Without the prefix.
    std::string_view expected;   ///< As errors say it.
    std::string_view otherwise;  ///< What holds where it is not set, in words.
};

/// Consumer options from MIN_CONSUMERS, MAX_CONSUMERS and PREFETCH_COUNT. What no variable says counts as not given, so
/// that a group's defaults hold; what code sets afterwards wins. Include <shove/consumer_options.hpp>.
/// @par Errors  As `environment`; also where the minimum is over the maximum, naming both.
consumer_options consumer_options_from(const environment& from);
/// The variables that it reads.
std::span<const environment_key> consumer_environment_keys() noexcept;

/// Autoscaler options from POLL_INTERVAL_SECS, SCALE_UP_MULTIPLIER, SCALE_DOWN_MULTIPLIER, HYSTERESIS_SECS and
/// COOLDOWN_SECS. What no variable says is the default. Include <shove/autoscaler.hpp>.
/// @par Errors  As `environment`; also where the down multiplier is not under the up multiplier, naming both.
autoscaler_options autoscaler_options_from(const environment& from);
/// The variables that it reads.
std::span<const environment_key> autoscaler_environment_keys() noexcept;

}  // namespace shove
