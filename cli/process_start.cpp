#include "process_start.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace shove::cli {
namespace {

/// The same file under a number that no program's own descriptors have.
descriptor lifted(int fd) {
    const descriptor low(fd);
    return descriptor(low ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, 10) : -1);
}

/// An anonymous file with these bytes, at its beginning.
descriptor file_of(const char* bytes, std::size_t size) {
    descriptor file = lifted(::memfd_create("shove", MFD_CLOEXEC));
    while (file && size > 0) {
        const auto written = ::write(file.get(), bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return {};
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
    if (file) ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

/// Attributes and file actions of a spawn, freed at its end.
class spawn_plan {
public:
    spawn_plan() {
        posix_spawnattr_init(&attributes_);
        posix_spawn_file_actions_init(&actions_);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes_, &none);
        sigset_t defaults;
        sigemptyset(&defaults);
        for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT})
            sigaddset(&defaults, each);
        posix_spawnattr_setsigdefault(&attributes_, &defaults);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~spawn_plan() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    spawn_plan(const spawn_plan&) = delete;
    spawn_plan& operator=(const spawn_plan&) = delete;

    void give(const descriptor& from, int as) { posix_spawn_file_actions_adddup2(&actions_, from.get(), as); }

    int start(const std::string& command, const std::vector<std::string>& environment, pid_t& id) {
        std::vector<char*> variables;
        variables.reserve(environment.size() + 1);
        for (const auto& each : environment)
            variables.push_back(const_cast<char*>(each.c_str()));
        variables.push_back(nullptr);
        char shell[] = "sh";
        char option[] = "-c";
        char* arguments[] = {shell, option, const_cast<char*>(command.c_str()), nullptr};
        return posix_spawn(&id, "/bin/sh", &actions_, &attributes_, arguments, variables.data());
    }

private:
    posix_spawnattr_t attributes_{};
    posix_spawn_file_actions_t actions_{};
};

/// Not watchable: it may not stay.
void give_up(pid_t id) {
    ::kill(-id, SIGKILL);
    while (::waitpid(id, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

started_process start_process(const std::string& command, const process_input& input) {
    started_process made;
    const auto body = file_of(reinterpret_cast<const char*>(input.body.data()), input.body.size());
    const auto side = input.side_file.empty() ? descriptor() : file_of(input.side_file.data(), input.side_file.size());
    int ends[2] = {-1, -1};
    if (!body || (!input.side_file.empty() && !side) || ::pipe2(ends, O_CLOEXEC) != 0) {
        made.error = errno;
        return made;
    }
    made.messages = descriptor(ends[0]);
    const descriptor theirs = lifted(ends[1]);
    ::fcntl(made.messages.get(), F_SETFL, O_NONBLOCK);
    spawn_plan plan;
    plan.give(theirs, 2);
    if (side) plan.give(side, 3);
    plan.give(body, 0);
    made.error = plan.start(command, input.environment, made.id);
    if (made.error != 0) return made;
    made.exit = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, made.id, 0)));
    if (made.exit) return made;
    made.error = errno;
    give_up(made.id);
    return made;
}

}  // namespace shove::cli
