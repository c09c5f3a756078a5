#include "line_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "failure.hpp"

namespace shove::cli {

line_reader::state line_reader::next(std::string& line, bool wait) {
    while (!take(line)) {
        if (ended_) return state::end;
        if (!wait && !ready()) return state::nothing_yet;
        fill();
    }
    ++count_;
    return state::line;
}

bool line_reader::take(std::string& line) {
    const auto end = buffer_.find('\n', scanned_);
    if (end == buffer_.npos) {
        scanned_ = buffer_.size();
        if (!ended_ || begin_ == buffer_.size()) return false;
        line.assign(buffer_, begin_);
        begin_ = buffer_.size();
        return true;
    }
    line.assign(buffer_, begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    return true;
}

bool line_reader::ready() const {
    pollfd waiting{fd_, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
}

void line_reader::fill() {
    constexpr std::size_t step = std::size_t{64} * 1024;
    if (begin_ > 0) {
        buffer_.erase(0, begin_);
        scanned_ -= begin_;
        begin_ = 0;
    }
    const auto held = buffer_.size();
    if (held > longest) {
        throw failure("too_large", "line " + std::to_string(count_ + 1) + " of the input is over 1 GiB; split it");
    }
    buffer_.resize(held + step);
    ssize_t got = 0;
    do {
        got = ::read(fd_, buffer_.data() + held, step);
    } while (got < 0 && errno == EINTR);
    const int code = errno;
    buffer_.resize(held + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) ended_ = true;
    if (got >= 0) return;
    if (code != EAGAIN) throw failure("read_failed", "cannot read the input: " + std::generic_category().message(code));
    pollfd waiting{fd_, POLLIN, 0};
    ::poll(&waiting, 1, -1);
}

std::string line_reader::rest() {
    while (!ended_)
        fill();
    auto all = buffer_.substr(begin_);
    begin_ = scanned_ = buffer_.size();
    return all;
}

}  // namespace shove::cli
