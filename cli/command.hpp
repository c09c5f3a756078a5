#pragma once

#include <shove/broker.hpp>

#include <functional>
#include <memory>
#include <string>

#include "console.hpp"
#include "exit_code.hpp"

namespace CLI {
class App;
}

namespace shove::cli {

/// Options that every subcommand takes.
struct common_options {
    std::string url = "sqlite:shove.db";
    bool json = false;
    bool quiet = false;
};

/// What a subcommand works with.
class session {
public:
    session(cli::console& to, common_options options) : console_(to), options_(std::move(options)) {}

    cli::console& console() noexcept { return console_; }
    output& out() noexcept { return console_.out(); }
    bool json() const noexcept { return options_.json; }
    const std::string& url() const noexcept { return options_.url; }
    /// Opens the broker of `--url`, which logs to the console. Throws `exception`, and `usage_failure`
    /// for a URL that means nothing.
    /// @param measured  As `broker_options::metrics`.
    any_broker open(unsigned worker_threads = 0, std::shared_ptr<metrics> measured = {}) const;

private:
    cli::console& console_;
    common_options options_;
};

/// What the chosen subcommand does.
using action = std::function<exit_code(session&)>;

// Each adds one subcommand, which sets `chosen` when the command line asks for it.
void add_publish_command(CLI::App& app, action& chosen);
void add_consume_command(CLI::App& app, action& chosen);
void add_worker_command(CLI::App& app, action& chosen);
void add_queues_command(CLI::App& app, action& chosen);
void add_dlq_command(CLI::App& app, action& chosen);
void add_keys_command(CLI::App& app, action& chosen);
void add_topology_command(CLI::App& app, action& chosen);
void add_store_command(CLI::App& app, action& chosen);
void add_ping_command(CLI::App& app, action& chosen);
void add_doctor_command(CLI::App& app, action& chosen);
void add_version_command(CLI::App& app, action& chosen);
void add_completion_command(CLI::App& app, action& chosen);
void add_man_command(CLI::App& app, action& chosen);

}  // namespace shove::cli
