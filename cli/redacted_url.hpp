#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shove::cli {

/// Knows what in a URL is secret: the user's part, and values of parameters whose names speak of a secret.
class redacted_url {
public:
    explicit redacted_url(std::string_view url);

    /// The URL with `***` in place of what is secret.
    const std::string& text() const noexcept { return text_; }
    /// Any text, without what is secret in the URL.
    std::string clean(std::string text) const;

private:
    void hide_user(std::string_view url);
    void hide_parameters(std::string_view query);
    void hide(std::string_view secret);

    std::string text_;
    std::vector<std::string> secrets_;
};

}  // namespace shove::cli
