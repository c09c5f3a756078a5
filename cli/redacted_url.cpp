#include "redacted_url.hpp"

#include <algorithm>
#include <array>

namespace shove::cli {
namespace {

constexpr std::string_view hidden = "***";

bool speaks_of_a_secret(std::string_view name) {
    std::string low(name);
    std::ranges::transform(low, low.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return std::ranges::any_of(std::array{"pass", "token", "secret", "key", "credential", "auth"},
                               [&low](const char* word) { return low.find(word) != low.npos; });
}

std::string with_hidden(std::string text, std::string_view secret) {
    for (auto at = text.find(secret); at != text.npos; at = text.find(secret, at + hidden.size()))
        text.replace(at, secret.size(), hidden);
    return text;
}

}  // namespace

redacted_url::redacted_url(std::string_view url) : text_(url) {
    const auto query = std::min(url.find('?'), url.size());
    hide_user(url.substr(0, query));
    hide_parameters(url.substr(std::min(query + 1, url.size())));
    // The longest first, so that none is left half shown.
    std::ranges::sort(secrets_, std::ranges::greater(), &std::string::size);
    text_ = clean(std::move(text_));
}

void redacted_url::hide_user(std::string_view url) {
    const auto scheme = url.find(':');
    auto rest = scheme == url.npos ? url : url.substr(scheme + 1);
    if (rest.starts_with("///")) return;  // a path
    while (rest.starts_with('/'))
        rest.remove_prefix(1);
    // The last one: a password may hold an unescaped @ or /.
    const auto at = rest.rfind('@');
    if (at == rest.npos) return;
    const auto user = rest.substr(0, at);
    hide(user);
    if (const auto colon = user.find(':'); colon != user.npos) hide(user.substr(colon + 1));
}

void redacted_url::hide_parameters(std::string_view query) {
    while (!query.empty()) {
        const auto end = std::min(query.find_first_of("&;"), query.size());
        const auto one = query.substr(0, end);
        const auto sign = one.find('=');
        if (sign != one.npos && speaks_of_a_secret(one.substr(0, sign))) hide(one.substr(sign + 1));
        query.remove_prefix(std::min(end + 1, query.size()));
    }
}

void redacted_url::hide(std::string_view secret) {
    if (!secret.empty()) secrets_.emplace_back(secret);
}

std::string redacted_url::clean(std::string text) const {
    for (const auto& each : secrets_)
        text = with_hidden(std::move(text), each);
    return text;
}

}  // namespace shove::cli
