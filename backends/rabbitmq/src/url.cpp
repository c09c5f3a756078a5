#include <shove/rabbitmq.hpp>
#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "check_config.hpp"
#include "url_options.hpp"

// No error here shows a piece of the part before the options: with one character forgotten, any of it may be a
// password.

namespace shove {

namespace rabbitmq_backend {

namespace {

error wrong(std::string text) {
    return {errc::invalid_argument, "RabbitMQ URL: " + std::move(text)};
}

/// A URL cut at its delimiters, still encoded.
struct url_parts {
    std::string_view scheme, authority, path, query;
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

result<url_parts> cut(std::string_view url) {
    const auto colon = url.find("://");
    if (colon == url.npos) return wrong("write amqp://user:password@host:5672/virtual-host, or amqps:// for TLS");
    url_parts parts;
    parts.scheme = url.substr(0, colon);
    auto rest = url.substr(colon + 3);
    if (rest.find('#') != rest.npos) return wrong("a # must be written %23");
    const auto question = std::min(rest.find('?'), rest.size());
    parts.query = rest.substr(std::min(question + 1, rest.size()));
    rest = rest.substr(0, question);
    const auto slash = std::min(rest.find('/'), rest.size());
    parts.path = rest.substr(slash);
    parts.authority = rest.substr(0, slash);
    // Else a password with an unencoded / or ? would be read as a host, a path and options.
    if (parts.path.find('@') != parts.path.npos || parts.query.find('@') != parts.query.npos)
        return wrong("in user, password, virtual host and options write %40 for @, %2F for / and %3F for ?");
    return parts;
}

error set_credentials(rabbitmq::config& into, std::string_view text) {
    const auto colon = std::min(text.find(':'), text.size());
    auto user = spi::percent_decoded(text.substr(0, colon));
    auto password = spi::percent_decoded(text.substr(std::min(colon + 1, text.size())));
    if (!user || !password)
        return wrong("a % in user or password must be followed by two hexadecimal digits, not 00; write %25 for %");
    into.user = std::move(*user);
    into.password = std::move(*password);
    return {};
}

/// One server, `host`, `host:port`, `[::1]` or `[::1]:port`; `number` counts from 1, for the error.
result<rabbitmq::address> read_server(std::string_view text, std::size_t number) {
    const auto bad = [&](std::string_view what) {
        return wrong("server " + std::to_string(number) + ": " + std::string(what));
    };
    const auto host_end = text.starts_with('[') ? text.find(']') : std::min(text.find(':'), text.size());
    if (host_end == text.npos) return bad("an IPv6 address has no closing bracket");
    const bool bracketed = text.starts_with('[');
    auto host = spi::percent_decoded(text.substr(bracketed ? 1 : 0, host_end - (bracketed ? 1 : 0)));
    if (!host) return bad("a % must be followed by two hexadecimal digits, not 00");
    if (host->empty()) return bad("the host is missing");
    const auto rest = text.substr(std::min(host_end + (bracketed ? 1 : 0), text.size()));
    if (rest.empty()) return rabbitmq::address{std::move(*host), 0};
    const auto port = rest.starts_with(':') ? spi::whole_number(rest.substr(1)) : std::nullopt;
    if (!port || *port < 1 || *port > 65'535)
        return bad("the port must be a number from 1 to 65535; an IPv6 address stands in brackets");
    return rabbitmq::address{std::move(*host), static_cast<std::uint16_t>(*port)};
}

error set_servers(rabbitmq::config& into, std::string_view list) {
    if (list.empty()) return {};
    into.servers.clear();
    for (std::size_t number = 1;; ++number) {
        const auto end = list.find(',');
        auto server = read_server(list.substr(0, end), number);
        if (!server) return server.error();
        into.servers.push_back(std::move(*server));
        if (end == list.npos) return {};
        list.remove_prefix(end + 1);
    }
}

error set_authority(rabbitmq::config& into, std::string_view text) {
    const auto at = text.rfind('@');
    if (at == text.npos) return set_servers(into, text);
    if (auto cause = set_credentials(into, text.substr(0, at))) return cause;
    return set_servers(into, text.substr(at + 1));
}

error set_virtual_host(rabbitmq::config& into, std::string_view path) {
    if (path.size() <= 1) return {};
    if (path.find('/', 1) != path.npos) return wrong("write %2F for a slash in the virtual host");
    auto name = spi::percent_decoded(path.substr(1));
    if (!name) return wrong("a % in the virtual host must be followed by two hexadecimal digits, not 00");
    into.virtual_host = std::move(*name);
    return {};
}

}  // namespace

}  // namespace rabbitmq_backend

result<rabbitmq::config> rabbitmq::parse(std::string_view url) {
    using namespace rabbitmq_backend;
    const auto parts = cut(url);
    if (!parts) return parts.error();
    config made;
    made.tls = equal_ignoring_case(parts->scheme, "amqps");
    if (!made.tls && !equal_ignoring_case(parts->scheme, "amqp")) return wrong("it begins with amqp:// or amqps://");
    if (auto cause = set_authority(made, parts->authority)) return cause;
    if (auto cause = set_virtual_host(made, parts->path)) return cause;
    if (auto cause = set_options(made, parts->query)) return cause;
    if (auto cause = check_config(made)) return cause;
    return made;
}

}  // namespace shove
