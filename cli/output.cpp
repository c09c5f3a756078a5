#include "output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "failure.hpp"

namespace shove::cli {

bool output::write(std::string_view bytes) {
    std::lock_guard lock(mutex_);
    while (!bytes.empty() && failure_ == 0) {
        const auto written = ::write(fd_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            wait_writable();
        } else if (errno != EINTR) {
            failure_ = errno;
        }
    }
    return failure_ == 0;
}

/// Somebody else may have made the descriptor non-blocking.
bool output::wait_writable() const noexcept {
    pollfd waiting{fd_, POLLOUT, 0};
    return ::poll(&waiting, 1, 1'000) > 0;
}

void output::check() const {
    const int code = failure_;
    if (code == 0 || code == EPIPE) return;
    throw failure("write_failed", "cannot write the output: " + std::generic_category().message(code) +
                                      "; what was not written was not settled");
}

bool output::is_terminal() const noexcept {
    return ::isatty(fd_) == 1;
}

}  // namespace shove::cli
