#pragma once

#include <shove/clock.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace shove::cli {

/// What a program is given.
struct process_input {
    std::span<const std::byte> body;       ///< Its standard input.
    std::vector<std::string> environment;  ///< All of it, `NAME=value` each.
    std::string_view side_file;            ///< Bytes that it can read from /proc/self/fd/3; empty: none.
};

/// How a program ended.
struct process_end {
    enum class kind : unsigned char {
        exited,
        signalled,
        not_started,  ///< The system refused.
    };
    kind how = kind::exited;
    int code = 0;           ///< The exit code, the signal or the system's error.
    bool stopped = false;   ///< It was told to stop.
    std::string last_line;  ///< The last line that it wrote to standard error, at most 500 bytes.
};

/// Runs shell commands, each in a process group of its own. Bodies go by an anonymous file in memory, not a
/// pipe: a program that does not read its input blocks nobody.
/// @par Thread safety  Safe; `run` blocks.
class process_runner {
public:
    /// @param grace  How long a group may go on after SIGTERM before it gets SIGKILL.
    /// @param heard  Gets what programs write to standard error, in whole lines where they are not too long.
    process_runner(std::string command, milliseconds grace, std::function<void(std::string_view)> heard)
        : command_(std::move(command)), grace_(grace), heard_(std::move(heard)) {}

    /// Runs the command; when `stop` is requested, its group is told to stop.
    process_end run(const process_input& input, std::stop_token stop);
    /// Sends SIGKILL to all groups that run.
    void kill_all();
    /// Waits until nothing runs, no longer than the time given.
    bool wait_idle(milliseconds most);

private:
    friend class running_process;
    void entered(pid_t group);
    void left(pid_t group);

    const std::string command_;
    const milliseconds grace_;
    const std::function<void(std::string_view)> heard_;
    std::mutex mutex_;
    std::condition_variable idle_;
    std::set<pid_t> groups_;
};

}  // namespace shove::cli
