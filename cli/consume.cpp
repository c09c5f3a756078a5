#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "command.hpp"
#include "consume_run.hpp"
#include "failure.hpp"
#include "option_types.hpp"
#include "topology_settings.hpp"

namespace shove::cli {
namespace {

struct consume_command {
    std::string queue;
    topology_flags topology;
    consume_plan plan;
};

constexpr const char* examples =
    "Examples:\n"
    "  shove consume orders                            print and take messages until Ctrl-C\n"
    "  shove consume orders --count 5 --timeout 10s    exactly five; exit code 3 if fewer came in ten seconds\n"
    "  shove consume orders --outcome reject --count 1 --reason 'bad record' --dlq\n"
    "  shove consume orders --dead --outcome defer     look at dead letters, leave them there\n"
    "  shove consume orders | jq .body\n";

exit_code consume(session& with, const consume_command& options) {
    consume_run run(with, options.plan);
    const auto broker = with.open();
    auto flags = options.topology;
    declared_topic topic;
    if (options.plan.dead) {
        topic.settings = settings_for(options.queue, flags);
        topic.settings.dlq = true;
        topic.settings.dlq_name = dead_queue_of(broker, options.queue, flags);
        topic.topic = make_topic(topic.settings);
    } else {
        topic = declare_topic(broker, with.console(), options.queue, flags);
    }
    if (options.plan.result.kind() == outcome_kind::reject && topic.topic.topology->dead_letter_queue.empty()) {
        with.console().warning("queue '" + options.queue +
                               "' has no dead-letter queue: what is rejected is discarded; " + "give --dlq to keep it");
    }
    return run.execute(broker, topic);
}

void add_options(CLI::App& command, consume_command& options) {
    static const std::map<std::string, outcome> outcomes{
        {"ack", ack}, {"retry", retry}, {"reject", reject}, {"defer", defer}};
    auto& plan = options.plan;
    command.add_option("QUEUE", options.queue, "Where to consume")->required()->option_text("(required)");
    command
        .add_option_function<std::string>(
            "--outcome", [&plan](const std::string& word) { plan.result = outcomes.at(word); },
            "What to do with each message once it was printed (ack)")
        ->check(CLI::IsMember({"ack", "retry", "reject", "defer"}))
        ->option_text("ack|retry|reject|defer");
    command.add_option("--reason", plan.reason, "Kept with a message that is retried or rejected")->option_text("TEXT");
    must_be_positive(command.add_option("--count", plan.count, "Stop after exactly so many"))->option_text("N");
    add_duration(command, "--timeout", plan.timeout, "Stop after so long");
    command.add_flag("--dead", plan.dead, "Read the queue's dead letters instead");
    command.add_option("--prefetch", plan.prefetch, "Messages held at a time, at most")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str()
        ->option_text("N");
    add_duration(command, "--drain", plan.drain, "How long the end may take (30s)");
}

}  // namespace

void add_consume_command(CLI::App& app, action& chosen) {
    const auto options = std::make_shared<consume_command>();
    auto* command = app.add_subcommand("consume", "Print messages as JSON, one line each, and settle them");
    command->footer(examples);
    add_options(*command, *options);
    add_topology_options(*command, options->topology);
    command->callback([options, &chosen] { chosen = [options](session& with) { return consume(with, *options); }; });
}

}  // namespace shove::cli
