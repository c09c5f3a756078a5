#include <shove/testkit/child_process.hpp>
#include <shove/testkit/events.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <vector>

extern char** environ;

namespace shove::testkit {
namespace {

constexpr std::string_view role_variable = "SHOVE_CHILD_ROLE";
constexpr std::string_view argument_prefix = "SHOVE_CHILD_ARGUMENT_";

std::map<std::string, child_role>& roles() {
    static std::map<std::string, child_role> known;
    return known;
}

child_arguments arguments_of_this_process() {
    child_arguments made;
    for (char** each = environ; *each; ++each) {
        const std::string_view line(*each);
        if (!line.starts_with(argument_prefix)) continue;
        const auto equals = line.find('=');
        made[std::string(line.substr(argument_prefix.size(), equals - argument_prefix.size()))] =
            line.substr(equals + 1);
    }
    return made;
}

/// The environment of a child: ours without GoogleTest's, and what it is told.
std::vector<std::string> environment(const std::string& role, const child_arguments& arguments) {
    std::vector<std::string> made;
    for (char** each = environ; *each; ++each) {
        const std::string_view line(*each);
        if (!line.starts_with("GTEST_") && !line.starts_with("SHOVE_CHILD_ROLE") &&
            !line.starts_with(argument_prefix)) {
            made.emplace_back(line);
        }
    }
    made.push_back(std::string(role_variable) + "=" + role);
    made.emplace_back("GTEST_FILTER=child.*");
    for (const auto& [name, value] : arguments)
        made.push_back(std::string(argument_prefix) + name + "=" + value);
    return made;
}

/// Does what this process was started for, and ends it.
[[noreturn]] void run_role(const backend_factory& factory) {
    constexpr rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);  // it dies often
    const auto arguments = arguments_of_this_process();
    int result = 1;
    try {
        const auto store = factory.attach(arguments.at("store"));
        result = roles().at(std::getenv(role_variable.data()))(*store, arguments);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "child: %s\n", e.what());
    }
    std::fflush(nullptr);
    _exit(result);
}

/// Stands for the role among GoogleTest's tests.
class child_test : public testing::Test {
public:
    explicit child_test(std::shared_ptr<const backend_factory> factory) : factory_(std::move(factory)) {}
    void TestBody() override { run_role(*factory_); }

private:
    std::shared_ptr<const backend_factory> factory_;
};

}  // namespace

bool add_child_role(const std::string& name, child_role role) {
    roles()[name] = role;
    return true;
}

bool is_child_process() {
    return std::getenv(role_variable.data()) != nullptr;
}

bool register_child_roles(const backend_factory& factory) {
    if (!is_child_process()) return false;
    const auto kept = std::make_shared<const backend_factory>(factory);
    testing::RegisterTest("child", factory.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [kept]() -> testing::Test* { return new child_test(kept); });
    return true;
}

child_process::child_process(const std::string& role, const child_arguments& arguments) {
    auto lines = environment(role, arguments);
    std::vector<char*> pointers;
    for (auto& line : lines)
        pointers.push_back(line.data());
    pointers.push_back(nullptr);
    std::string program = "/proc/self/exe";
    char* argv[] = {program.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (!std::getenv("SHOVE_CHILD_OUTPUT")) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    const int failed = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, pointers.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw std::system_error(failed, std::generic_category(), "posix_spawn");
}

child_process::~child_process() {
    kill();
}

void child_process::kill() {
    if (!alive()) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
    ended_ = true;
}

void child_process::ask_to_end() {
    if (alive()) ::kill(pid_, SIGTERM);
}

int child_process::wait() {
    eventually("the end of a child process", [this] { return !alive(); });
    return status_;
}

bool child_process::alive() {
    if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    return !ended_;
}

}  // namespace shove::testkit
