#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

#include "bench_command.hpp"
#include "command.hpp"
#include "failure.hpp"

#ifndef SHOVE_VERSION
#define SHOVE_VERSION "unknown"
#endif

namespace shove::cli {
namespace {

constexpr const char* about =
    "shove: queues with retries and dead letters, on the broker that you have.\n"
    "`shove COMMAND --help` has examples of each command.";

constexpr const char* footer =
    "Examples:\n"
    "  echo '{\"order\":1}' | shove publish orders --dlq --hold 1s,5s\n"
    "  shove worker orders --exec './handle-order'\n"
    "  shove queues\n"
    "  shove dlq list orders\n"
    "\n"
    "Exit codes: 0 done, 1 something failed, 2 wrong usage, 3 a time ran out.\n"
    "URLs: sqlite:relative.db, sqlite:///absolute/path.db, amqp://user:password@host:5672/vhost,\n"
    "      amqps://user:password@host/vhost, memory:\n";

/// The command line as CLI11 knows it.
class command_line {
public:
    command_line() {
        app_.name("shove");
        app_.require_subcommand(0, 1);  // a missing one is told of below; a wrong one by its name
        app_.fallthrough();             // the options below may stand after the subcommand
        app_.footer(footer);
        app_.set_version_flag("--version", "shove " SHOVE_VERSION);
        app_.add_option("--url", options_.url, "The broker")->envname("SHOVE_URL")->capture_default_str();
        app_.add_flag("--json", options_.json, "Results and errors as JSON lines, for scripts");
        app_.add_flag("--quiet,-q", options_.quiet, "No notes, no progress");
        for (const auto add :
             {add_publish_command, add_consume_command, add_worker_command, add_queues_command, add_dlq_command,
              add_keys_command, add_topology_command, add_store_command, add_ping_command, add_doctor_command,
              add_version_command, add_completion_command, add_man_command}) {
            add(app_, chosen_);
        }
        add_bench_command(app_, measured_);
    }

    /// Parses and acts.
    exit_code run(int argc, char** argv, console& to) {
        to.speak_json(std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; }));
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& e) {
            return explain(e, to);
        }
        to.speak_json(options_.json);
        to.be_quiet(options_.quiet);
        session with(to, options_);
        if (chosen_) return chosen_(with);
        if (app_.got_subcommand("bench")) return static_cast<exit_code>(measured_);
        throw usage_failure("a subcommand is missing; `" + asked_for() + " --help` lists them");
    }

private:
    /// Help that was asked for goes to stdout; a mistake to stderr, with a hint.
    exit_code explain(const CLI::ParseError& e, console& to) {
        if (e.get_exit_code() == 0) {
            to.out().write(dynamic_cast<const CLI::CallForHelp*>(&e) ? app_.help() : std::string(e.what()) + "\n");
            return exit_code::ok;
        }
        to.error("usage", std::string(e.what()) + "; `" + asked_for() + " --help` shows how");
        return exit_code::usage;
    }

    /// `shove dlq list`: the command as far as it was understood.
    std::string asked_for() const {
        const CLI::App* at = &app_;
        std::string name = "shove";
        for (auto found = at->get_subcommands(); !found.empty(); found = at->get_subcommands()) {
            at = found.front();
            name += " " + at->get_name();
        }
        return name;
    }

    CLI::App app_{about};
    common_options options_;
    action chosen_;
    int measured_ = 0;
};

}  // namespace

int run_command(int argc, char** argv) {
    console to;
    try {
        command_line line;
        return static_cast<int>(line.run(argc, argv, to));
    } catch (const failure& e) {
        to.error(e.code(), e.what());
        return static_cast<int>(e.ends_with());
    } catch (const exception& e) {
        to.error(word_for(e.cause().code), e.what());
    } catch (const std::exception& e) {
        to.error("internal", e.what());
    }
    return static_cast<int>(exit_code::failure);
}

}  // namespace shove::cli
