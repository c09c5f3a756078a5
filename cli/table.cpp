#include "table.hpp"

#include <algorithm>

namespace shove::cli {
namespace {

bool continues(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes of the character that begins here; 0 if there is none.
std::size_t character_size(std::string_view text) noexcept {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
    if (size == 0 || text.size() < size) return 0;
    return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size), continues) ? size : 0;
}

bool is_control(std::string_view character) noexcept {
    const auto first = static_cast<unsigned char>(character[0]);
    const bool c1 = character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
    return first < 0x20 || first == 0x7F || c1;
}

}  // namespace

std::size_t width_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string cell_text(std::string_view text, std::size_t most) {
    std::string shown;
    for (std::size_t count = 0; !text.empty(); ++count) {
        if (count == most) return shown += "…";
        const auto size = character_size(text);
        const bool fine = size > 0 && !is_control(text.substr(0, size));
        if (fine) {
            shown += text.substr(0, size);
        } else {
            shown += '?';
        }
        text.remove_prefix(std::max<std::size_t>(1, size));
    }
    return shown;
}

table::table(std::vector<column> columns) : columns_(std::move(columns)) {
    for (const auto& each : columns_)
        widths_.push_back(width_of(each.title));
}

void table::add(std::vector<std::string> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
        widen(i, width_of(cells[i]));
    rows_.push_back(std::move(cells));
}

std::string table::line(const std::vector<std::string>& cells) const {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto padding = widths_[i] - std::min(widths_[i], width_of(cells[i]));
        if (i > 0) text += "  ";
        if (columns_[i].right) text.append(padding, ' ');
        text += cells[i];
        if (!columns_[i].right && i + 1 < cells.size()) text.append(padding, ' ');
    }
    return text += '\n';
}

std::string table::header() const {
    std::vector<std::string> titles;
    titles.reserve(columns_.size());
    for (const auto& each : columns_)
        titles.push_back(each.title);
    auto text = line(titles);
    text.pop_back();
    return text;
}

std::string table::body() const {
    std::string text;
    for (const auto& row : rows_)
        text += line(row);
    return text;
}

}  // namespace shove::cli
