#pragma once

#include <shove/testkit/backend_factory.hpp>

#include <sys/types.h>

#include <map>
#include <string>

/// Child processes that share a store with a test: what dies, so that survival can be tested.
///
/// A child is the test program itself, started again with an environment that names a role. Instead of its
/// cases it runs that role's function until it ends or is killed.
namespace shove::testkit {

/// What a child is told: `store` (a location) and whatever its role needs.
using child_arguments = std::map<std::string, std::string>;

/// A role: what a child does with a store.
using child_role = int (*)(backend_store& store, const child_arguments& arguments);

/// Makes a role known by name; at namespace scope, in every process alike.
bool add_child_role(const std::string& name, child_role role);

/// True in a process started as a child.
bool is_child_process();
/// Lets a test program be its own child: at namespace scope, in programs that start children
/// (`SHOVE_CONFORMANCE` does it). True in a child.
bool register_child_roles(const backend_factory& factory);

/// One child, killed by the destructor if it still runs.
class child_process {
public:
    /// Starts this program again in a role. Its output goes to `/dev/null` unless `SHOVE_CHILD_OUTPUT` is set.
    child_process(const std::string& role, const child_arguments& arguments);
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process();

    /// Kills it as `kill -9` does, and waits for its end.
    void kill();
    /// Asks it to end in order (SIGTERM).
    void ask_to_end();
    /// Waits for its end by itself; gives the status of `waitpid`. Throws `impatience`.
    int wait();
    /// True while it runs.
    bool alive();

private:
    pid_t pid_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

}  // namespace shove::testkit
