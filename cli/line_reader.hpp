#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace shove::cli {

/// Reads lines of any bytes from a file descriptor.
class line_reader {
public:
    enum class state : unsigned char {
        line,
        nothing_yet,  ///< No whole line is there now.
        end,
    };

    explicit line_reader(int fd) : fd_(fd) {}

    /// The next line, without its line end; the last one may lack it. Throws `failure`: reading failed, or
    /// a line is over 1 GiB.
    /// @param wait  False: gives `nothing_yet` rather than wait for input.
    state next(std::string& line, bool wait);
    /// Everything that is left.
    std::string rest();
    /// Lines given so far.
    std::uint64_t count() const noexcept { return count_; }

private:
    bool take(std::string& line);
    bool ready() const;
    void fill();

    static constexpr std::size_t longest = std::size_t{1} << 30;
    const int fd_;
    std::string buffer_;
    std::size_t begin_ = 0;    ///< Where the next line begins,
    std::size_t scanned_ = 0;  ///< and how far there is surely no line end.
    std::uint64_t count_ = 0;
    bool ended_ = false;
};

}  // namespace shove::cli
