#include "console.hpp"

#include <shove/detail/json_writer.hpp>

#include <cstdlib>

namespace shove::cli {
namespace {

bool colours_wanted() {
    const char* refused = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return !(refused && *refused) && terminal && std::string_view(terminal) != "dumb";
}

std::string_view sequence(colour c) {
    switch (c) {
        case colour::red:
            return "\033[31m";
        case colour::yellow:
            return "\033[33m";
        case colour::green:
            return "\033[32m";
        case colour::dim:
            return "\033[2m";
        case colour::bold:
            return "\033[1m";
        case colour::none:
            break;
    }
    return {};
}

std::string paint(std::string_view text, colour c) {
    if (c == colour::none) return std::string(text);
    return std::string(sequence(c)) + std::string(text) + "\033[0m";
}

/// `{"error":{"code":…,"message":…}}`
std::string as_json(std::string_view kind, std::string_view code, std::string_view text) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key(kind);
    writer.begin_object();
    if (!code.empty()) {
        writer.plain_key("code");
        writer.lossy_string(code);
    }
    writer.plain_key("message");
    writer.lossy_string(text);
    writer.end_object();
    writer.end_object();
    writer.flush();
    return line += '\n';
}

}  // namespace

console::console() : out_terminal_(out_.is_terminal()), error_terminal_(error_.is_terminal()) {
    const bool wanted = colours_wanted();
    out_colours_ = wanted && out_terminal_;
    error_colours_ = wanted && error_terminal_;
}

std::string console::painted(std::string_view text, colour c) const {
    return out_colours_ ? paint(text, c) : std::string(text);
}

void console::error(std::string_view code, std::string_view text) {
    say("error", colour::red, code, text);
}

void console::warning(std::string_view text) {
    say("warning", colour::yellow, {}, text);
}

void console::note(std::string_view text) {
    if (!quiet_) say("note", colour::dim, {}, text);
}

void console::say(std::string_view kind, colour c, std::string_view code, std::string_view text) {
    std::string line;
    if (json_) {
        line = as_json(kind, code, text);
    } else {
        const auto word = std::string(kind) + ":";
        line = "shove: " + (error_colours_ ? paint(word, c) : word) + " " + std::string(text) + "\n";
    }
    raw_error(line);
}

void console::raw_error(std::string_view bytes) {
    std::lock_guard lock(mutex_);
    erase_progress();
    error_.write(bytes);
}

void console::progress(std::string_view text) {
    if (!shows_progress()) return;
    std::lock_guard lock(mutex_);
    erase_progress();
    if (text.empty()) return;
    error_.write(text);
    progress_shown_ = true;
}

void console::erase_progress() {
    if (progress_shown_) error_.write("\r\033[K");
    progress_shown_ = false;
}

}  // namespace shove::cli
