#include "finding.hpp"

#include <shove/detail/json_writer.hpp>

#include "table.hpp"

namespace shove::cli {
namespace {

colour colour_of(verdict is) {
    switch (is) {
        case verdict::ok:
            return colour::green;
        case verdict::warning:
            return colour::yellow;
        case verdict::failed:
            return colour::red;
        case verdict::note:
            break;
    }
    return colour::dim;
}

std::string as_json(const finding& what) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("check");
    writer.lossy_string(what.check);
    writer.plain_key("verdict");
    writer.string(word_for(what.is));
    writer.plain_key("text");
    writer.lossy_string(what.text);
    writer.plain_key("remedy");
    if (what.remedy.empty()) {
        writer.null();
    } else {
        writer.lossy_string(what.remedy);
    }
    writer.plain_key("facts");
    writer.begin_array();
    for (const auto& each : what.facts) {
        writer.begin_object();
        writer.plain_key("name");
        writer.lossy_string(each.name);
        writer.plain_key("value");
        writer.lossy_string(each.value);
        writer.end_object();
    }
    writer.end_array();
    writer.end_object();
    writer.flush();
    return line += '\n';
}

std::string padded(std::string text, std::size_t width) {
    text.append(width - std::min(width, width_of(text)), ' ');
    return text;
}

std::string as_lines(const console& to, const finding& what) {
    auto text = to.painted(padded(std::string(word_for(what.is)), 7), colour_of(what.is)) + "  " +
                padded(what.check, 12) + "  " + cell_text(what.text, 1'000) + '\n';
    if (!what.remedy.empty()) text += "         -> " + cell_text(what.remedy, 1'000) + '\n';
    for (const auto& each : what.facts)
        text += "             " + padded(cell_text(each.name, 40), 20) + "  " + cell_text(each.value, 400) + '\n';
    return text;
}

}  // namespace

std::string_view word_for(verdict is) noexcept {
    switch (is) {
        case verdict::ok:
            return "ok";
        case verdict::note:
            return "note";
        case verdict::warning:
            return "warning";
        case verdict::failed:
            break;
    }
    return "failed";
}

void print(session& with, const finding& what) {
    with.out().write(with.json() ? as_json(what) : as_lines(with.console(), what));
}

}  // namespace shove::cli
