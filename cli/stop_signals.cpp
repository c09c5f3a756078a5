#include "stop_signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace shove::cli {
namespace {

/// Signals within this time are one request: supervisors such as timeout(1) signal a process and then its group.
constexpr std::chrono::milliseconds one_signal(200);

}  // namespace

stop_signals::stop_signals(std::function<void(unsigned)> arrived) : arrived_(std::move(arrived)) {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int each : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&wanted, each);
    pthread_sigmask(SIG_BLOCK, &wanted, &before_);
    signals_ = signalfd(-1, &wanted, SFD_CLOEXEC);
    end_ = eventfd(0, EFD_CLOEXEC);
    if (signals_ < 0 || end_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
    thread_ = std::thread([this] { listen(); });
}

stop_signals::~stop_signals() {
    const std::uint64_t one = 1;
    (void)!::write(end_, &one, sizeof one);
    thread_.join();
    ::close(signals_);
    ::close(end_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void stop_signals::listen() const {
    std::chrono::steady_clock::time_point last{};
    for (unsigned count = 1;;) {
        std::array<pollfd, 2> waiting{{{signals_, POLLIN, 0}, {end_, POLLIN, 0}}};
        if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
        if (waiting[1].revents != 0) return;
        signalfd_siginfo info{};
        if (::read(signals_, &info, sizeof info) != sizeof info) continue;
        const auto now = std::chrono::steady_clock::now();
        if (count > 1 && now - last < one_signal) continue;
        last = now;
        arrived_(count++);
    }
}

}  // namespace shove::cli
