#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace shove::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into calls. Make it before any other thread: the signals are blocked in
/// the threads made after it. The destructor gives them back.
class stop_signals {
public:
    /// @param arrived  Called on a thread of its own with 1 for the first signal, 2 for the second, …;
    ///                 signals less than 200 ms apart count as one.
    explicit stop_signals(std::function<void(unsigned)> arrived);
    ~stop_signals();
    stop_signals(const stop_signals&) = delete;
    stop_signals& operator=(const stop_signals&) = delete;

private:
    void listen() const;

    const std::function<void(unsigned)> arrived_;
    sigset_t before_{};
    int signals_ = -1;
    int end_ = -1;
    std::thread thread_;
};

}  // namespace shove::cli
