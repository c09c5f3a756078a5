#include <CLI/CLI.hpp>

#include <memory>

#include "command.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "table.hpp"
#include "topology_work.hpp"

#include <shove/detail/json_writer.hpp>

namespace shove::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  shove topology plan --topology topics.toml       what the broker lacks, and what differs there\n"
    "  shove topology apply --topology topics.toml      makes what is missing; never takes anything away\n"
    "  shove topology check --topology topics.toml || echo 'not as declared'\n"
    "  shove topology show orders --topology topics.toml\n"
    "  shove topology show orders --hold 1s,5s --dlq --json\n"
    "\n"
    "A topology file:\n"
    "  [[topic]]\n"
    "  queue = \"orders\"\n"
    "  hold = [\"1s\", \"5s\"]\n"
    "  dlq = true               # or a name\n"
    "  max_retries = 5\n"
    "  sequenced = \"skip\"       # or \"fail-all\"; with shards = 8, key_field = \"customer\"\n";

std::string as_json(const topic_settings& settings, const queue_topology& layout) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("queue");
    writer.lossy_string(layout.queue);
    writer.plain_key("holds");
    writer.begin_array();
    for (const auto& each : layout.holds) {
        writer.begin_object();
        writer.plain_key("queue");
        writer.lossy_string(each.queue);
        writer.plain_key("delay_ms");
        writer.integer(each.delay.count());
        writer.end_object();
    }
    writer.end_array();
    writer.plain_key("dead_letter_queue");
    if (layout.dead_letter_queue.empty()) {
        writer.null();
    } else {
        writer.lossy_string(layout.dead_letter_queue);
    }
    writer.plain_key("max_retries");
    writer.unsigned_integer(settings.max_retries.value_or(consumer_options{}.max_retries));
    writer.plain_key("allow_message_loss");
    writer.boolean(layout.allow_message_loss);
    writer.plain_key("shards");
    if (layout.sequencing) {
        writer.unsigned_integer(layout.sequencing->shards());
    } else {
        writer.null();
    }
    writer.end_object();
    writer.flush();
    return line += '\n';
}

std::vector<std::string> as_row(const topic_settings& settings, const queue_topology& layout) {
    std::string holds;
    for (const auto& each : layout.holds)
        holds += (holds.empty() ? "" : ",") + format_duration(each.delay);
    return {layout.queue, holds.empty() ? "-" : holds,
            layout.dead_letter_queue.empty() ? "-" : layout.dead_letter_queue,
            std::to_string(settings.max_retries.value_or(consumer_options{}.max_retries))};
}

exit_code show(session& with, const topology_request& options) {
    table shown({{"QUEUE"}, {"HOLD"}, {"DEAD LETTERS"}, {"MAX RETRIES", true}});
    for (const auto& each : asked_for(options)) {
        const auto topic = make_topic(each);
        if (with.json()) {
            with.out().write(as_json(each, *topic.topology));
        } else {
            shown.add(as_row(each, *topic.topology));
        }
    }
    if (!with.json()) with.out().write(with.console().painted(shown.header(), colour::bold) + '\n' + shown.body());
    with.out().check();
    return exit_code::ok;
}

using work = exit_code (*)(session&, const topology_request&);

void add_one(CLI::App& parent, const std::string& name, const std::string& help, work does, action& chosen) {
    const auto options = std::make_shared<topology_request>();
    auto* command = parent.add_subcommand(name, help);
    command->footer(examples);
    command->add_option("QUEUE", options->queue, "Only this one")->option_text("(optional)");
    add_topology_options(*command, options->flags);
    command->callback(
        [options, does, &chosen] { chosen = [options, does](session& with) { return does(with, *options); }; });
}

}  // namespace

std::vector<topic_settings> asked_for(const topology_request& request) {
    if (!request.queue.empty()) return {settings_for(request.queue, request.flags)};
    if (!request.flags.file.empty()) return read_topology_file(request.flags.file);
    throw usage_failure("give a QUEUE, or --topology FILE for all of its topics");
}

void add_topology_command(CLI::App& app, action& chosen) {
    auto* command = app.add_subcommand("topology", "Compare how queues are laid out with how they are declared");
    command->require_subcommand(0, 1);
    command->footer(examples);
    add_one(*command, "plan", "Show what the broker lacks and what differs there", plan_topology, chosen);
    add_one(*command, "apply", "Declare what is missing; what differs is left alone", apply_topology, chosen);
    add_one(*command, "check", "As plan; fails where there is a difference", check_topology, chosen);
    add_one(*command, "show", "Show the names and rules that follow from it; asks no broker", show, chosen);
}

}  // namespace shove::cli
