#include "process.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>

#include "process_start.hpp"

namespace shove::cli {
namespace {

/// What a program says on standard error: passed on in lines, the last one kept.
class listener {
public:
    explicit listener(const std::function<void(std::string_view)>& heard) : heard_(heard) {}

    void take(std::string_view bytes) {
        pending_ += bytes;
        const auto end = pending_.rfind('\n');
        if (end != pending_.npos) pass(end + 1);
        if (pending_.size() > longest) pass(pending_.size());
    }
    /// The last line with something in it, bounded.
    std::string finish() {
        if (!pending_.empty()) {
            pending_ += '\n';
            pass(pending_.size());
        }
        return last_;
    }

private:
    void pass(std::size_t size) {
        const auto whole = std::string_view(pending_).substr(0, size);
        heard_(whole);
        const auto end = whole.find_last_not_of(" \t\r\n");
        if (end != whole.npos) {
            const auto before = whole.find_last_of('\n', end);
            const auto begin = before == whole.npos ? 0 : before + 1;
            last_ = whole.substr(begin, std::min<std::size_t>(end + 1 - begin, 500));
        }
        pending_.erase(0, size);
    }

    static constexpr std::size_t longest = 8'192;
    const std::function<void(std::string_view)>& heard_;
    std::string pending_;
    std::string last_;
};

}  // namespace

/// One program from its start to its end.
class running_process {
public:
    running_process(process_runner& owner, started_process process, std::stop_token stop)
        : owner_(owner),
          process_(std::move(process)),
          listener_(owner.heard_),
          stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          wake_(std::move(stop), [fd = stop_.get()] {
              const std::uint64_t one = 1;
              (void)!::write(fd, &one, sizeof one);
          }) {
        owner_.entered(process_.id);
    }

    process_end follow() {
        while (!over())
            wait();
        if (stopping_) signal_group(SIGKILL);  // whoever is left; the unreaped leader keeps the number ours
        hear();
        return reap();
    }

private:
    using steady = std::chrono::steady_clock;

    /// A program that was told to stop takes its group with it: wait until nobody can write, or the grace passes.
    bool over() const { return exited_ && (!stopping_ || killed_ || !process_.messages); }

    void wait() {
        std::array<pollfd, 3> waiting{{{exited_ ? -1 : process_.exit.get(), POLLIN, 0},
                                       {process_.messages ? process_.messages.get() : -1, POLLIN, 0},
                                       {stopping_ ? -1 : stop_.get(), POLLIN, 0}}};
        if (::poll(waiting.data(), waiting.size(), patience()) < 0 && errno != EINTR) return;
        if (waiting[1].revents != 0) hear();
        if (waiting[0].revents != 0) exited_ = true;
        if (waiting[2].revents != 0) begin_stop();
        if (stopping_ && !killed_ && steady::now() >= kill_at_) {
            signal_group(SIGKILL);
            killed_ = true;
        }
    }

    int patience() const {
        if (!stopping_ || killed_) return -1;
        const auto left = std::chrono::ceil<milliseconds>(kill_at_ - steady::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
    }

    void begin_stop() {
        stopping_ = true;
        kill_at_ = steady::now() + owner_.grace_;
        signal_group(SIGTERM);
        signal_group(SIGCONT);  // a stopped process cannot end
    }

    void signal_group(int number) const { ::kill(-process_.id, number); }

    /// Reads what is there, no more than a full pipe.
    void hear() {
        std::array<char, 4096> buffer;
        for (int n = 0; n < 32 && process_.messages; ++n) {
            const auto got = ::read(process_.messages.get(), buffer.data(), buffer.size());
            if (got > 0) {
                listener_.take({buffer.data(), static_cast<std::size_t>(got)});
            } else if (got < 0 && errno == EINTR) {
                continue;
            } else if (got < 0 && errno == EAGAIN) {
                return;
            } else {
                process_.messages.reset();
            }
        }
    }

    process_end reap() {
        owner_.left(process_.id);
        siginfo_t info{};
        while (::waitid(P_PID, static_cast<id_t>(process_.id), &info, WEXITED) != 0 && errno == EINTR) {
        }
        process_end end;
        end.how = info.si_code == CLD_EXITED ? process_end::kind::exited : process_end::kind::signalled;
        end.code = info.si_status;
        end.stopped = stopping_;
        end.last_line = listener_.finish();
        return end;
    }

    process_runner& owner_;
    started_process process_;
    listener listener_;
    descriptor stop_;
    std::stop_callback<std::function<void()>> wake_;
    bool exited_ = false;
    bool stopping_ = false;
    bool killed_ = false;
    steady::time_point kill_at_{};
};

process_end process_runner::run(const process_input& input, std::stop_token stop) {
    auto started = start_process(command_, input);
    if (started.error == 0) return running_process(*this, std::move(started), std::move(stop)).follow();
    process_end end;
    end.how = process_end::kind::not_started;
    end.code = started.error;
    return end;
}

void process_runner::entered(pid_t group) {
    std::lock_guard lock(mutex_);
    groups_.insert(group);
}

void process_runner::left(pid_t group) {
    std::lock_guard lock(mutex_);
    groups_.erase(group);
    if (groups_.empty()) idle_.notify_all();
}

void process_runner::kill_all() {
    std::lock_guard lock(mutex_);
    for (const auto group : groups_)
        ::kill(-group, SIGKILL);
}

bool process_runner::wait_idle(milliseconds most) {
    std::unique_lock lock(mutex_);
    return idle_.wait_for(lock, most, [&] { return groups_.empty(); });
}

}  // namespace shove::cli
