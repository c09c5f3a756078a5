#include "management_url.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace shove::rabbitmq_backend {

namespace {

error wrong(std::string_view what) {
    std::string text = "management url ";
    text.append(what).append("; write http://host:15672 or https://host:15671");
    return {errc::invalid_argument, std::move(text)};
}

bool is_alphanumeric(char c) {
    const char lower = static_cast<char>(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

bool is_unreserved(char c) {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

bool is_host_character(char c) {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
}

bool is_address_character(char c) {
    return is_alphanumeric(c) || c == ':' || c == '.' || c == '%';
}

bool is_path_character(char c) {
    return is_unreserved(c) || std::string_view("/%!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

bool is_port(std::string_view text) {
    std::uint16_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    return code == std::errc() && end == text.data() + text.size() && number != 0;
}

/// Takes `http://` or `https://` off the front.
std::optional<bool> take_scheme(std::string_view& url) {
    const auto end = url.find("://");
    if (end == url.npos || end > 5) return std::nullopt;
    std::string scheme(url.substr(0, end));
    std::transform(scheme.begin(), scheme.end(), scheme.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    if (scheme != "http" && scheme != "https") return std::nullopt;
    url.remove_prefix(end + 3);
    return scheme == "https";
}

/// `host`, `host:port`, `[::1]`, `[::1]:port`.
error read_authority(std::string_view text, management_url& into) {
    std::string_view port;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == text.npos) return wrong("has an IPv6 address without its ']'");
        into.host = text.substr(1, end - 1);
        port = text.substr(end + 1);
        if (!std::all_of(into.host.begin(), into.host.end(), is_address_character)) return wrong("has a bad host");
    } else {
        into.host = text.substr(0, text.find(':'));
        port = text.substr(into.host.size());
        if (!std::all_of(into.host.begin(), into.host.end(), is_host_character)) return wrong("has a bad host");
    }
    if (into.host.empty()) return wrong("has no host");
    if (port.empty()) {
        into.port = into.tls ? "443" : "80";
        return {};
    }
    into.port = port.substr(1);
    return port.front() == ':' && is_port(into.port) ? error() : wrong("has a bad port");
}

}  // namespace

std::string management_url::authority() const {
    return (host.find(':') == host.npos ? host : '[' + host + ']') + ':' + port;
}

std::string management_url::origin() const {
    return (tls ? "https://" : "http://") + authority();
}

result<management_url> parse_management_url(std::string_view url) {
    management_url made;
    const auto tls = take_scheme(url);
    if (!tls) return wrong("does not begin with http:// or https://");
    made.tls = *tls;
    const auto authority = url.substr(0, url.find_first_of("/?#"));
    auto path = url.substr(authority.size());
    if (authority.find('@') != authority.npos) {
        return wrong("holds a user; give user and password in options of their own");
    }
    if (auto bad = read_authority(authority, made)) return bad;
    if (path.find_first_of("?#") != path.npos) return wrong("holds a query or a fragment");
    if (!std::all_of(path.begin(), path.end(), is_path_character)) {
        return wrong("has a path with characters that need percent encoding");
    }
    while (path.ends_with('/'))
        path.remove_suffix(1);
    made.prefix = path;
    return made;
}

std::string percent_encoded(std::string_view segment) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : segment) {
        if (is_unreserved(c)) {
            encoded.push_back(c);
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
    return encoded;
}

}  // namespace shove::rabbitmq_backend
