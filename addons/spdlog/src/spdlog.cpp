#include <shove/spdlog.hpp>

#include <shove/detail/json_writer.hpp>

#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

namespace shove {
namespace {

::spdlog::level::level_enum level_of(log_level level) {
    switch (level) {
        case log_level::debug:
            return ::spdlog::level::debug;
        case log_level::info:
            return ::spdlog::level::info;
        case log_level::warning:
            return ::spdlog::level::warn;
        case log_level::error:
            break;
    }
    return ::spdlog::level::err;
}

std::string now_text() {
    const auto now = std::chrono::system_clock::now();
    const auto seconds = std::chrono::system_clock::to_time_t(now);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1'000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 40> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    return std::string(text.data(), size) + "." + (ms < 100 ? ms < 10 ? "00" : "0" : "") + std::to_string(ms) + "Z";
}

/// A value that a reader can tell from the next field: in quotes if it holds a space or a quote.
void append_value(std::string& to, std::string_view value) {
    if (value.find_first_of(" \"=\n\t\r") == value.npos && !value.empty()) {
        to.append(value);
        return;
    }
    detail::json_writer writer(to);
    (void)writer.lossy_string(value);
    writer.flush();
}

std::string to_text(const event& what) {
    std::string line;
    for (const char c : what.text)
        line += c == '\n' || c == '\r' ? ' ' : c;
    line.append("  event=").append(what.info.name);
    for (const auto& field : what.fields) {
        line.append(" ").append(field.name).append("=");
        append_value(line, field.is_number ? std::to_string(field.number) : std::string(field.text));
    }
    return line;
}

}  // namespace

std::string to_json(const event& what, const std::string& time) {
    std::string line;
    detail::json_writer writer(line);
    const auto text = [&](std::string_view name, std::string_view value) {
        writer.plain_key(name);
        (void)writer.lossy_string(value);
    };
    writer.begin_object();
    if (!time.empty()) text("time", time);
    text("level", to_string(what.info.level));
    text("event", what.info.name);
    text("text", what.text);
    for (const auto& field : what.fields) {
        if (!field.is_number) {
            text(field.name, field.text);
            continue;
        }
        writer.plain_key(field.name);
        writer.integer(field.number);
    }
    writer.end_object();
    writer.flush();
    return line;
}

std::function<void(const event&)> spdlog_events(std::shared_ptr<::spdlog::logger> logger, log_format format) {
    if (format == log_format::json) logger->set_pattern("%v");
    return [logger = std::move(logger), format](const event& what) {
        const auto level = level_of(what.info.level);
        if (!logger->should_log(level)) return;
        const auto line = format == log_format::json ? to_json(what, now_text()) : to_text(what);
        logger->log(level, ::spdlog::string_view_t(line.data(), line.size()));
    };
}

}  // namespace shove
