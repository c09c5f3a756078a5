#include "dlq.hpp"

#include <CLI/CLI.hpp>

#include <memory>

#include "failure.hpp"
#include "option_types.hpp"

namespace shove::cli {
namespace {

constexpr const char* list_examples =
    "Examples:\n"
    "  shove dlq list orders --limit 20\n"
    "  shove dlq list orders --reason rejected --since 1h --json | jq .death.last_error\n";
constexpr const char* replay_examples =
    "A replayed message keeps its id and order, and has its attempts reset; it leaves the dead letters only\n"
    "once its copy is confirmed. The header x-shove-replays counts.\n"
    "\n"
    "Examples:\n"
    "  shove dlq replay orders --dry-run\n"
    "  shove dlq replay orders --match '\"customer\":17' --limit 100\n"
    "  shove dlq replay orders --to orders-repair\n";
constexpr const char* purge_examples =
    "Examples:\n"
    "  shove dlq purge orders --since 10m --reason deserialize --dry-run\n"
    "  shove dlq purge orders\n";

using work = exit_code (*)(session&, const dlq_command&);

void add_filter(CLI::App& command, letter_filter& filter) {
    constexpr const char* group = "Which letters; all that is given must hold";
    command.add_option("--reason", filter.reason, "Died for this: rejected, max_retries_exceeded, deserialize, ...")
        ->option_text("WORD")
        ->group(group);
    add_moment(command, "--since", filter.since, "Died at or after this, or no longer ago than that")->group(group);
    command.add_option("--match", filter.match, "The body contains this text")->option_text("TEXT")->group(group);
    command.add_option("--limit", filter.limit, "No more than so many")->option_text("N")->group(group);
}

CLI::App* add_one(CLI::App& parent, const std::string& name, const std::string& help, const char* examples, work does,
                  action& chosen, const std::shared_ptr<dlq_command>& options) {
    auto* command = parent.add_subcommand(name, help);
    command->footer(examples);
    command->add_option("QUEUE", options->queue, "The queue that the messages died in")
        ->required()
        ->option_text("(required)");
    command->add_option("--dead-queue", options->dead_queue, "Their dead-letter queue, if it has another name")
        ->option_text("NAME");
    add_filter(*command, options->filter);
    add_topology_options(*command, options->topology);
    command->callback(
        [options, does, &chosen] { chosen = [options, does](session& with) { return does(with, *options); }; });
    return command;
}

}  // namespace

std::string dead_queue_for(const any_broker& broker, const dlq_command& options) {
    if (options.dead_queue.empty()) return dead_queue_of(broker, options.queue, options.topology);
    if (!broker.capabilities().admin || find_queue(broker, options.dead_queue)) return options.dead_queue;
    throw failure("unknown_queue",
                  "--dead-queue: there is no queue '" + options.dead_queue + "'; `shove queues` lists what there is");
}

void add_dlq_command(CLI::App& app, action& chosen) {
    auto* command = app.add_subcommand("dlq", "List, replay or purge dead letters");
    command->require_subcommand(0, 1);
    add_one(*command, "list", "Show dead letters, oldest first, without taking them", list_examples, list_letters,
            chosen, std::make_shared<dlq_command>());
    const auto replay = std::make_shared<dlq_command>();
    auto* replaying = add_one(*command, "replay", "Publish dead letters again to the queue that they died in",
                              replay_examples, replay_letters, chosen, replay);
    replaying->add_option("--to", replay->target, "Publish them to this queue instead")->option_text("NAME");
    replaying->add_flag("--dry-run", replay->dry_run, "Only count");
    const auto purge = std::make_shared<dlq_command>();
    add_one(*command, "purge", "Remove dead letters for good", purge_examples, purge_letters, chosen, purge)
        ->add_flag("--dry-run", purge->dry_run, "Only count");
}

}  // namespace shove::cli
