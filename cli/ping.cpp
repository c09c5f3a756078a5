#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

#include "command.hpp"
#include "option_types.hpp"

#include <shove/detail/json_writer.hpp>

namespace shove::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  shove ping\n"
    "  shove ping --url sqlite:///var/lib/app/queue.db --timeout 500ms || echo down\n";

exit_code ping(session& with, milliseconds deadline) {
    const auto broker = with.open();
    const auto started = std::chrono::steady_clock::now();
    broker.ping(deadline).value();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
    const auto backend = broker.capabilities().backend;
    std::string line;
    if (with.json()) {
        detail::json_writer writer(line);
        writer.begin_object();
        writer.plain_key("ok");
        writer.boolean(true);
        writer.plain_key("backend");
        writer.string(backend);
        writer.plain_key("elapsed_ms");
        writer.number(took.count());
        writer.end_object();
        writer.flush();
        line += '\n';
    } else {
        line = "ok: " + std::string(backend) + " answered in " + std::to_string(took.count()) + " ms\n";
    }
    with.out().write(line);
    with.out().check();
    return exit_code::ok;
}

}  // namespace

void add_ping_command(CLI::App& app, action& chosen) {
    const auto deadline = std::make_shared<milliseconds>(5'000);
    auto* command = app.add_subcommand("ping", "Ask the broker for one answer");
    command->footer(examples);
    add_duration(*command, "--timeout", *deadline, "How long to wait for it (5s)");
    command->callback([deadline, &chosen] { chosen = [deadline](session& with) { return ping(with, *deadline); }; });
}

}  // namespace shove::cli
