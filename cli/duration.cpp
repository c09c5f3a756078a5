#include "duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace shove::cli {
namespace {

struct unit {
    std::string_view name;
    std::int64_t in_ms;
};

constexpr std::array<unit, 5> units{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::int64_t most_ms = std::int64_t{1'000} * 366 * 86'400'000;

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
    std::uint32_t count = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failed != std::errc{}) return std::nullopt;
    const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const auto& each : units) {
        if (name != each.name) continue;
        if (count > most_ms / each.in_ms) return std::nullopt;
        return milliseconds(count * each.in_ms);
    }
    return std::nullopt;
}

std::string format_duration(milliseconds value) {
    if (value.count() == 0) return "0s";
    for (const auto& each : units) {
        if (value.count() % each.in_ms == 0) return std::to_string(value.count() / each.in_ms) + std::string(each.name);
    }
    return {};
}

std::string age_text(const std::optional<milliseconds>& age) {
    if (!age) return "-";
    for (const auto& each : units) {
        if (age->count() >= each.in_ms) return std::to_string(age->count() / each.in_ms) + std::string(each.name);
    }
    return format_duration(*age);
}

}  // namespace shove::cli
