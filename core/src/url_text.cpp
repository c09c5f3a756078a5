#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <charconv>

namespace shove::spi {

namespace {

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    const char lower = static_cast<char>(c | 0x20);
    if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a' + 10);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain.push_back(text[i]);
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const auto high = hex_digit(text[i + 1]);
        const auto low = hex_digit(text[i + 2]);
        if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
        plain.push_back(static_cast<char>(*high * 16 + *low));
        i += 2;
    }
    return plain;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::chrono::milliseconds> duration(std::string_view text, std::chrono::milliseconds bare) {
    constexpr std::int64_t longest = std::int64_t{10} * 365 * 24 * 3600 * 1000;
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto unit = text.substr(digits);
    const std::int64_t factor = unit.empty()   ? bare.count()
                                : unit == "ms" ? 1
                                : unit == "s"  ? 1000
                                : unit == "m"  ? 60'000
                                               : 0;
    const auto count = whole_number(text.substr(0, digits));
    if (factor == 0 || !count || *count > static_cast<std::uint64_t>(longest / factor)) return std::nullopt;
    return std::chrono::milliseconds(static_cast<std::int64_t>(*count) * factor);
}

std::optional<bool> truth(std::string_view text) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
}

}  // namespace shove::spi
