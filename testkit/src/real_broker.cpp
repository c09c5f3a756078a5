#include <shove/testkit/real_broker.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <system_error>
#include <utility>

extern char** environ;

namespace shove::testkit {
namespace {

constexpr auto script_variable = "SHOVE_TEST_BROKERS";

/// A pipe whose ends close by themselves.
class output_pipe {
public:
    output_pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    }
    output_pipe(const output_pipe&) = delete;
    output_pipe& operator=(const output_pipe&) = delete;
    ~output_pipe() {
        close_input();
        ::close(ends_[0]);
    }
    int input() const { return ends_[1]; }
    void close_input() {
        if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
    }
    std::string read_all() const {
        std::string all;
        std::array<char, 4096> some{};
        for (ssize_t n = 0; (n = ::read(ends_[0], some.data(), some.size())) > 0;)
            all.append(some.data(), static_cast<std::size_t>(n));
        return all;
    }

private:
    std::array<int, 2> ends_{};
};

struct finished {
    int status;
    std::string output;
};

/// Runs a program; it gets no other open file of ours, above all no connection that a test closes meanwhile.
finished run(std::vector<std::string> command) {
    std::vector<char*> pointers;
    for (auto& word : command)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    output_pipe output;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.input(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output.input(), STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    pid_t child = -1;
    const int failed = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw broker_error("cannot run " + command[0] + ": " + std::generic_category().message(failed));
    output.close_input();
    finished made{0, output.read_all()};
    ::waitpid(child, &made.status, 0);
    while (made.output.ends_with('\n'))
        made.output.pop_back();
    return made;
}

std::string script() {
    const char* path = std::getenv(script_variable);
    return path ? path : "";
}

/// What the script's `env` says; empty without the script.
std::map<std::string, std::string> script_environment() {
    std::map<std::string, std::string> made;
    if (script().empty()) return made;
    const auto [status, text] = run({script(), "env"});
    if (status != 0) throw broker_error(text);
    constexpr std::string_view start = "export ";
    for (std::size_t at = 0; at < text.size();) {
        const auto line = text.substr(at, text.find('\n', at) - at);
        at += line.size() + 1;
        const auto equals = line.find('=');
        if (line.starts_with(start) && equals != line.npos) {
            auto value = line.substr(equals + 1);
            std::erase(value, '\\');  // the shell's
            made[line.substr(start.size(), equals - start.size())] = std::move(value);
        }
    }
    return made;
}

/// From this process's environment; else from the script, which is asked each time: brokers come and go.
std::string variable(const std::string& name) {
    if (const char* set = std::getenv(name.c_str())) return set;
    const auto asked = script_environment();
    const auto found = asked.find(name);
    return found == asked.end() ? "" : found->second;
}

std::string variable_name(std::string_view name) {
    auto made = "SHOVE_TEST_" + std::string(name);
    std::transform(made.begin(), made.end(), made.begin(),
                   [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    return made;
}

std::string advice(const std::string& broker) {
    return "start it with `tools/brokers.sh up " + broker +
           "`, and run the test by ctest or after `eval \"$(tools/brokers.sh env)\"`; tools/test.sh does all this";
}

}  // namespace

std::string real_broker::address(std::string_view of) const {
    const auto name = variable_name(of.empty() ? name_ : name_ + "_" + std::string(of));
    auto found = variable(name);
    if (found.empty()) throw broker_error("the broker " + name_ + " is not there (no " + name + "): " + advice(name_));
    return found;
}

std::string real_broker::control(std::string_view command, const std::vector<std::string>& arguments) const {
    if (script().empty()) throw broker_error(std::string(script_variable) + " is not set: " + advice(name_));
    std::vector<std::string> words{script(), std::string(command), name_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto [status, output] = run(std::move(words));
    if (status != 0) throw broker_error("brokers.sh " + std::string(command) + " " + name_ + ": " + output);
    return output;
}

std::string broker_setting(std::string_view what) {
    const auto name = variable_name(what);
    auto found = variable(name);
    if (found.empty()) throw broker_error(name + " is not set: run `eval \"$(tools/brokers.sh env)\"` first");
    return found;
}

}  // namespace shove::testkit
