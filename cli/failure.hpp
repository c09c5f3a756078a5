#pragma once

#include <shove/error.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

#include "exit_code.hpp"

namespace shove::cli {

/// An end of the command that its user is told about: names the thing, the value and the remedy.
class failure : public std::runtime_error {
public:
    /// @param code  A word for scripts, such as `bad_envelope`.
    failure(std::string code, const std::string& text, exit_code ends_with = exit_code::failure)
        : std::runtime_error(text), code_(std::move(code)), ends_with_(ends_with) {}

    const std::string& code() const noexcept { return code_; }
    exit_code ends_with() const noexcept { return ends_with_; }

private:
    std::string code_;
    exit_code ends_with_;
};

/// A mistake on the command line or in a file that it names.
class usage_failure : public failure {
public:
    explicit usage_failure(const std::string& text) : failure("usage", text, exit_code::usage) {}
};

/// The library's error as a word: the enumerator's name, such as `unknown_queue`.
std::string_view word_for(const error_code& code) noexcept;

}  // namespace shove::cli
