#include "link.hpp"

#include <amqp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{5'000};
/// So many frames are read before what they brought is worked on.
constexpr int frames_at_once = 1'024;
/// Heartbeats are looked after this often at least.
constexpr std::chrono::milliseconds longest_sleep{500};

}  // namespace

link::link(std::shared_ptr<const rabbitmq::config> settings, std::string purpose, link_user& user)
    : settings_(std::move(settings)),
      purpose_(std::move(purpose)),
      user_(user),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      random_(std::random_device{}()) {
    if (bell_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    next_server_ = random_();
}

link::~link() {
    finish();
    ::close(bell_);
}

void link::finish() noexcept {
    stop();
    cut();
    if (thread_.joinable()) thread_.join();
}

void link::start() {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable() || stopping_) return;
    running_ = true;
    thread_ = std::thread([this] { run(); });
}

void link::wake() noexcept {
    if (rung_.exchange(true)) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(bell_, &one, sizeof one);
}

void link::stop() noexcept {
    stopping_ = true;
    rung_ = false;
    wake();
}

bool link::wait_stopped(steady_time until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [this] { return !running_; });
}

void link::cut() noexcept {
    const std::lock_guard lock(mutex_);
    cut_ = true;
    if (current_) current_->cut();
}

void link::run() {
    unsigned failures = 0;
    error why;
    while (!stopping_) {
        try {
            const auto made = dial();
            failures = 0;
            serve(*made);
            user_.lost(error(errc::closed, "the broker was closed"));
        } catch (const connection_failed& failed) {
            why = failed.cause;
            user_.lost(why);
        }
        {
            const std::lock_guard lock(mutex_);
            current_ = nullptr;
        }
        if (!stopping_) back_off(++failures, why);
    }
    end();
}

std::unique_ptr<connection> link::dial() {
    const auto& servers = settings_->servers;
    auto made = connection::dial(*settings_, servers[next_server_++ % servers.size()], purpose_);
    const std::lock_guard lock(mutex_);
    if (cut_) throw connection_failed{error(errc::closed, "the broker was closed")};
    return made;
}

void link::serve(connection& on) {
    {
        const std::lock_guard lock(mutex_);
        current_ = &on;
        if (cut_) on.cut();
    }
    struct forget {
        link& of;
        ~forget() {
            const std::lock_guard lock(of.mutex_);
            of.current_ = nullptr;
        }
    };
    const forget at_end{*this};
    try {
        user_.connected(on);
        bool readable = true;
        steady_time next_look{};  // whatever is told: for the heartbeats
        for (;;) {
            const bool last = stopping_;
            const auto now = std::chrono::steady_clock::now();
            if (readable || last || on.has_input() || now >= next_look) {
                read(on);
                next_look = now + longest_sleep;
            }
            user_.work(on);
            if (last) break;
            readable = false;
            if (on.has_input() || stopping_) continue;
            readable = wait_for(on);
        }
    } catch (const channel_failed& failed) {  // nobody's own: begin anew
        throw connection_failed{failed.cause};
    }
    on.close();
}

/// Reads what is there. Now and then also when nothing is: heartbeats are sent and missed ones are noticed in
/// `connection::next`.
void link::read(connection& on) {
    amqp_frame_t frame{};
    for (int n = 0; n < frames_at_once && on.next(frame); ++n) {
        const auto channel = frame.channel;
        if (channel == 0 && frame.frame_type == AMQP_FRAME_METHOD) {
            if (frame.payload.method.id == AMQP_CONNECTION_BLOCKED_METHOD) {
                const auto& told = *static_cast<const amqp_connection_blocked_t*>(frame.payload.method.decoded);
                auto reason = std::string(text_of(told.reason));
                user_.blocked(reason.empty() ? "no reason given" : reason);
            } else if (frame.payload.method.id == AMQP_CONNECTION_UNBLOCKED_METHOD) {
                user_.blocked({});
            }
        } else {
            user_.frame(on, frame);
        }
        if (!on.has_input()) break;  // asking the socket again would cost a call
    }
}

bool link::wait_for(connection& on) {
    const auto next = user_.next_read();
    const auto due = user_.due();
    if (next <= std::chrono::steady_clock::now()) return wait(on.descriptor(), due);
    wait(-1, due ? std::min(*due, next) : next);
    return std::chrono::steady_clock::now() >= next;
}

bool link::wait(int descriptor, std::optional<steady_time> until) noexcept {
    std::chrono::nanoseconds patience = longest_sleep;
    if (until) patience = std::clamp<std::chrono::nanoseconds>(*until - std::chrono::steady_clock::now(), {}, patience);
    const timespec left{0, patience.count()};  // below a second
    std::array<pollfd, 2> both{pollfd{bell_, POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
    ::ppoll(both.data(), descriptor < 0 ? 1 : 2, &left, nullptr);
    if ((both[0].revents & POLLIN) != 0) {
        std::uint64_t times = 0;
        [[maybe_unused]] const auto got = ::read(bell_, &times, sizeof times);
        rung_ = false;
    }
    return both[1].revents != 0;
}

void link::back_off(unsigned failures, const error& why) {
    const auto longest = std::min(longest_pause, first_pause * (1 << std::min(failures - 1, 8U)));
    std::uniform_int_distribution<std::int64_t> pick(longest.count() / 2, longest.count());
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(pick(random_));
    while (!stopping_) {
        user_.waiting(why);
        const auto now = std::chrono::steady_clock::now();
        if (now >= until) return;
        // What is due and waits for the connection is no reason to look again.
        const auto due = user_.due();
        wait(-1, due && *due > now ? std::min(*due, until) : until);
    }
}

void link::end() {
    user_.ended();
    const std::lock_guard lock(mutex_);
    running_ = false;
    changed_.notify_all();
}

}  // namespace shove::rabbitmq_backend
