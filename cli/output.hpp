#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

namespace shove::cli {

/// A file descriptor that lines are written to, each at once and whole. Survives a closed pipe.
/// @par Thread safety  Safe.
class output {
public:
    explicit output(int fd) noexcept : fd_(fd) {}

    /// Writes everything; false if it could not: then nothing more is written, ever.
    bool write(std::string_view bytes);
    /// The reader went away (not an error: it has what it wanted).
    bool closed() const noexcept { return failure_.load() != 0; }
    /// Throws `failure` if writing failed for any other reason than a reader that went away.
    void check() const;
    bool is_terminal() const noexcept;

private:
    bool wait_writable() const noexcept;

    const int fd_;
    std::mutex mutex_;
    std::atomic<int> failure_{0};
};

}  // namespace shove::cli
