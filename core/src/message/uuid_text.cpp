#include "uuid_text.hpp"

#include <random>

namespace shove::detail {
namespace {

constexpr bool is_dash_place(std::size_t i) noexcept {
    return i == 8 || i == 13 || i == 18 || i == 23;
}

constexpr int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

constexpr auto hex_pairs = [] {
    std::array<std::array<char, 2>, 256> table{};
    constexpr char digits[] = "0123456789abcdef";
    for (std::size_t i = 0; i < 256; ++i)
        table[i] = {digits[i >> 4], digits[i & 15]};
    return table;
}();

}  // namespace

bool parse_uuid(std::string_view text, std::array<std::byte, 16>& into) noexcept {
    if (text.size() != 36) return false;
    std::size_t byte = 0;
    for (std::size_t i = 0; i < 36;) {
        if (is_dash_place(i)) {
            if (text[i++] != '-') return false;
            continue;
        }
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return false;
        into[byte++] = static_cast<std::byte>(high << 4 | low);
        i += 2;
    }
    return true;
}

std::string_view write_uuid(const std::byte* bytes, id_buffer& buffer) noexcept {
    char* to = buffer.data();
    for (std::size_t i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        const auto& pair = hex_pairs[std::to_integer<std::size_t>(bytes[i])];
        *to++ = pair[0];
        *to++ = pair[1];
    }
    return {buffer.data(), buffer.size()};
}

uuid_source::uuid_source() {
    std::random_device device;
    seed_ = (std::uint64_t{device()} << 32 | device()) & 0x1FFFFFFFFFFFFFFFull;
}

std::array<std::byte, 16> uuid_source::next(wall_time now) noexcept {
    const auto ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
    const auto n = counter_.fetch_add(1, std::memory_order_relaxed);
    // The low 12 bits of the counter order ids within a millisecond; the rest goes into the random part.
    const std::uint64_t high = ms << 16 | 0x7000u | (n & 0xFFFu);
    const std::uint64_t low =
        0x8000000000000000ull | ((seed_ + (n >> 12) * 0x9E3779B97F4A7C15ull) & 0x3FFFFFFFFFFFFFFFull);
    std::array<std::byte, 16> bytes;
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::byte>(high >> (56 - 8 * i));
        bytes[8 + i] = static_cast<std::byte>(low >> (56 - 8 * i));
    }
    return bytes;
}

}  // namespace shove::detail
