#include <shove/spi/server_url.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace shove::spi {

bool is_loopback(std::string_view host) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    if (std::ranges::equal(host, std::string_view("localhost"), {}, lower)) return true;
    const std::string text(host);
    std::array<unsigned char, 16> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return bytes[0] == 127;
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return false;
    constexpr std::array<unsigned char, 16> one{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    return bytes == one || (std::equal(mapped.begin(), mapped.end(), bytes.begin()) && bytes[12] == 127);
}

bool plausible_host(std::string_view host) noexcept {
    return !host.empty() && host.size() <= 255 &&
           std::ranges::all_of(host, [](char c) { return c > ' ' && c < 0x7F && c != '/' && c != '@'; });
}

std::string address_text(std::string_view host, std::uint16_t port) {
    const bool v6 = host.find(':') != host.npos;
    return (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::to_string(port);
}

}  // namespace shove::spi
