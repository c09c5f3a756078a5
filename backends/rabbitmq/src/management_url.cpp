#include "management_url.hpp"

#include <algorithm>
#include <utility>

#include "url_text.hpp"

namespace shove::rabbitmq_backend {

namespace {

error wrong(std::string_view text) {
    return {errc::invalid_argument, "RabbitMQ settings: management " + std::string(text)};
}

bool take(std::string_view& from, std::string_view prefix) {
    if (!from.starts_with(prefix)) return false;
    from.remove_prefix(prefix.size());
    return true;
}

}  // namespace

result<management_address> read_management_url(std::string_view url) {
    management_address made;
    made.encrypted = take(url, "https://");
    if (!made.encrypted && !take(url, "http://")) return wrong("must be an http:// or https:// address");
    if (url.find('@') != url.npos)
        return wrong("must not hold user and password; give management_user and management_password");
    if (url.find_first_of("?#") != url.npos) return wrong("must have neither ? nor #");
    const auto printable = [](char c) { return c > ' ' && c < 0x7F; };
    if (!std::ranges::all_of(url, printable)) return wrong("must be printable ASCII without spaces");

    const auto slash = std::min(url.find('/'), url.size());
    made.path = url.substr(slash);
    while (made.path.ends_with('/'))
        made.path.pop_back();
    auto server = url.substr(0, slash);
    const bool bracketed = server.starts_with('[');
    const auto end = bracketed ? server.find(']') : std::min(server.find(':'), server.size());
    if (end == server.npos) return wrong("has an IPv6 address without a closing bracket");
    made.host = server.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0));
    if (made.host.empty()) return wrong("has no host");
    server.remove_prefix(end + (bracketed ? 1 : 0));
    made.port = made.encrypted ? 443 : 80;
    if (server.empty()) return made;
    const auto port = take(server, ":") ? whole_number(server) : std::nullopt;
    if (!port || *port < 1 || *port > 65'535) return wrong("has no port from 1 to 65535 behind its host");
    made.port = static_cast<std::uint16_t>(*port);
    return made;
}

}  // namespace shove::rabbitmq_backend
