#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shove::cli {

/// Characters that a UTF-8 text takes on a terminal, one each.
std::size_t width_of(std::string_view text) noexcept;
/// A text for one cell: control characters and invalid bytes shown as `?`, cut to `most` characters with `…`.
std::string cell_text(std::string_view text, std::size_t most);

/// Columns of equal width for people.
class table {
public:
    struct column {
        std::string title;
        bool right = false;  ///< Numbers.
    };
    explicit table(std::vector<column> columns);

    void add(std::vector<std::string> cells);
    /// Makes a column at least so wide.
    void widen(std::size_t which, std::size_t to) { widths_[which] = std::max(widths_[which], to); }
    /// Forgets the rows, keeps the widths.
    void clear() noexcept { rows_.clear(); }
    std::size_t rows() const noexcept { return rows_.size(); }
    /// The titles' line, without its line end.
    std::string header() const;
    /// The rows' lines, with their line ends.
    std::string body() const;

private:
    std::string line(const std::vector<std::string>& cells) const;

    std::vector<column> columns_;
    std::vector<std::size_t> widths_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace shove::cli
