#include "rfc3339.hpp"

#include <chrono>
#include <cstdio>

namespace shove::detail {
namespace {

__extension__ typedef __int128 wide;

constexpr std::int64_t billion = 1'000'000'000;
constexpr std::int64_t day_seconds = 86'400;

std::optional<std::int64_t> narrow(wide value) {
    if (value < INT64_MIN || value > INT64_MAX) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

wide floor_divide(wide value, wide by) {
    return value / by - (value % by < 0 ? 1 : 0);
}

/// Takes so many digits from the front; negative without them.
std::int64_t take_digits(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return -1;
    std::int64_t value = 0;
    for (const char c : text.substr(0, digits)) {
        if (c < '0' || c > '9') return -1;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

/// `YYYY-MM-DD`, as seconds since 1970.
std::optional<std::int64_t> take_date(std::string_view& text) {
    const auto year = take_digits(text, 4);
    const bool first = take(text, "-");
    const auto month = take_digits(text, 2);
    const bool second = take(text, "-");
    const auto day = take_digits(text, 2);
    if (!first || !second || year < 0 || month < 0 || day < 0) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_seconds(std::chrono::sys_days(date)).time_since_epoch().count();
}

/// `HH:MM`, as seconds.
std::optional<std::int64_t> take_minutes(std::string_view& text) {
    const auto hour = take_digits(text, 2);
    const bool colon = take(text, ":");
    const auto minute = take_digits(text, 2);
    if (!colon || hour < 0 || hour > 23 || minute < 0 || minute > 59) return std::nullopt;
    return hour * 3600 + minute * 60;
}

std::optional<std::int64_t> take_fraction(std::string_view& text) {
    if (!take(text, ".")) return 0;
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (digits < 9) value = value * 10 + (text[digits] - '0');
    }
    if (digits == 0) return std::nullopt;
    for (std::size_t i = digits; i < 9; ++i)
        value *= 10;
    text.remove_prefix(digits);
    return value;
}

/// What must be taken from the local time to get UTC.
std::optional<std::int64_t> take_offset(std::string_view& text) {
    if (take(text, "Zz")) return 0;
    const bool negative = text.starts_with('-');
    if (!take(text, "+-")) return std::nullopt;
    const auto offset = take_minutes(text);
    if (!offset) return std::nullopt;
    return negative ? -*offset : *offset;
}

/// A leap second counts as the first second after it, and stands only before midnight UTC.
bool is_second(std::int64_t second, std::int64_t utc) {
    if (second < 0 || second > 60) return false;
    return second < 60 || utc % day_seconds == 0;
}

std::size_t put_fraction(std::int64_t nanoseconds, char* out) {
    const int digits = nanoseconds % 1'000'000 == 0 ? 3 : nanoseconds % 1'000 == 0 ? 6 : 9;
    if (nanoseconds == 0) return 0;
    for (int i = 9; i > digits; i -= 3)
        nanoseconds /= 1'000;
    for (int i = digits; i > 0; --i, nanoseconds /= 10)
        out[i] = static_cast<char>('0' + nanoseconds % 10);
    out[0] = '.';
    return static_cast<std::size_t>(digits) + 1;
}

}  // namespace

std::optional<moment> moment_from_count(std::int64_t count, std::int64_t num, std::int64_t den) {
    const wide scaled = wide{count} * num;
    const auto seconds = floor_divide(scaled, den);
    const auto whole = narrow(seconds);
    if (!whole) return std::nullopt;
    return moment{*whole, static_cast<std::int64_t>((scaled - seconds * den) * (billion / den))};
}

std::optional<std::int64_t> count_from_moment(const moment& at, std::int64_t num, std::int64_t den) {
    const wide parts = wide{at.seconds} * den + at.nanoseconds / (billion / den);
    return narrow(floor_divide(parts, num));
}

std::size_t format_rfc3339(const moment& at, std::span<char, rfc3339_size> out) {
    constexpr std::int64_t year_0 = -62'167'219'200;
    constexpr std::int64_t year_10000 = 253'402'300'800;
    if (at.seconds < year_0 || at.seconds >= year_10000) return 0;
    const std::chrono::sys_seconds time{std::chrono::seconds(at.seconds)};
    const auto midnight = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(midnight);
    const std::chrono::hh_mm_ss clock(time - midnight);
    auto size = static_cast<std::size_t>(std::snprintf(
        out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
        static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count())));
    size += put_fraction(at.nanoseconds, out.data() + size);
    out[size++] = 'Z';
    return size;
}

std::optional<moment> parse_rfc3339(std::string_view text) {
    const auto date = take_date(text);
    if (!date || !take(text, "Tt")) return std::nullopt;
    const auto minutes = take_minutes(text);
    if (!minutes || !take(text, ":")) return std::nullopt;
    const auto second = take_digits(text, 2);
    const auto fraction = take_fraction(text);
    const auto offset = take_offset(text);
    if (!fraction || !offset || !text.empty()) return std::nullopt;
    const auto utc = *date + *minutes + second - *offset;
    if (!is_second(second, utc)) return std::nullopt;
    return moment{utc, *fraction};
}

}  // namespace shove::detail
