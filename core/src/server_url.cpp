#include <shove/spi/server_url.hpp>
#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <utility>

namespace shove::spi {

namespace {

/// Reads one URL; `words` speak for its backend.
class reader {
public:
    explicit reader(const url_words& words) : words_(words) {}

    result<server_url> read(std::string_view url) const {
        const auto colon = url.find("://");
        if (colon == url.npos) return wrong("write " + std::string(words_.form));
        server_url made;
        made.scheme = lower(url.substr(0, colon));
        auto rest = url.substr(colon + 3);
        if (rest.find('#') != rest.npos) return wrong("a # must be written %23");
        const auto question = std::min(rest.find('?'), rest.size());
        made.query = rest.substr(std::min(question + 1, rest.size()));
        rest = rest.substr(0, question);
        const auto slash = std::min(rest.find('/'), rest.size());
        made.path = rest.substr(slash);
        // Else a password with an unencoded / or ? would be read as a host, a path and options.
        if (made.path.find('@') != made.path.npos || made.query.find('@') != made.query.npos)
            return wrong("in " + std::string(words_.encoded) + " write %40 for @, %2F for / and %3F for ?");
        if (auto cause = read_authority(made, rest.substr(0, slash))) return cause;
        return made;
    }

private:
    static std::string lower(std::string_view text) {
        std::string made(text);
        std::ranges::transform(made, made.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
        return made;
    }

    error wrong(const std::string& text) const { return {errc::invalid_argument, std::string(words_.prefix) + text}; }

    error read_authority(server_url& into, std::string_view text) const {
        const auto at = text.rfind('@');
        if (at == text.npos) return read_servers(into, text);
        if (auto cause = read_login(into, text.substr(0, at))) return cause;
        return read_servers(into, text.substr(at + 1));
    }

    error read_login(server_url& into, std::string_view text) const {
        const auto colon = std::min(text.find(':'), text.size());
        auto user = percent_decoded(text.substr(0, colon));
        auto password = percent_decoded(text.substr(std::min(colon + 1, text.size())));
        if (!user || !password)
            return wrong("a % in user or password must be followed by two hexadecimal digits, not 00; write %25 for %");
        into.login.emplace(credentials{std::move(*user), std::move(*password)});
        return {};
    }

    error read_servers(server_url& into, std::string_view list) const {
        if (list.empty()) return {};
        for (;;) {
            const auto end = list.find(',');
            if (auto cause = read_server(into, list.substr(0, end))) return cause;
            if (end == list.npos) return {};
            list.remove_prefix(end + 1);
        }
    }

    /// One server: `host`, `host:port`, `[::1]` or `[::1]:port`.
    error read_server(server_url& into, std::string_view text) const {
        const auto bad = [&](const char* what) {
            return wrong("server " + std::to_string(into.servers.size() + 1) + ": " + what);
        };
        const bool bracketed = text.starts_with('[');
        const auto host_end = bracketed ? text.find(']') : std::min(text.find(':'), text.size());
        if (host_end == text.npos) return bad("an IPv6 address has no closing bracket");
        auto host = percent_decoded(text.substr(bracketed ? 1 : 0, host_end - (bracketed ? 1 : 0)));
        if (!host) return bad("a % must be followed by two hexadecimal digits, not 00");
        if (host->empty()) return bad("the host is missing");
        auto& made = into.servers.emplace_back(server_address{std::move(*host), 0});
        const auto rest = text.substr(std::min(host_end + (bracketed ? 1 : 0), text.size()));
        if (rest.empty()) return {};
        const auto port = rest.starts_with(':') ? whole_number(rest.substr(1)) : std::nullopt;
        if (port && *port >= 1 && *port <= 65'535) {
            made.port = static_cast<std::uint16_t>(*port);
            return {};
        }
        into.servers.pop_back();
        return bad("the port must be a number from 1 to 65535; an IPv6 address stands in brackets");
    }

    const url_words& words_;
};

}  // namespace

result<server_url> read_server_url(std::string_view url, const url_words& words) {
    return reader(words).read(url);
}

}  // namespace shove::spi
