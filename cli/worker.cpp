#include <CLI/CLI.hpp>

#include <memory>

#include "command.hpp"
#include "metrics_server.hpp"
#include "option_types.hpp"
#include "topology_settings.hpp"
#include "worker_run.hpp"

namespace shove::cli {
namespace {

struct worker_command {
    std::string queue;
    topology_flags topology;
    worker_plan plan;
    std::string metrics;
};

constexpr const char* examples =
    "The program gets the body on its standard input, and in its environment SHOVE_ID, SHOVE_QUEUE,\n"
    "SHOVE_ATTEMPT, SHOVE_KEY (if there is one) and SHOVE_HEADERS (JSON). Its exit code decides:\n"
    "  0 ack   75 retry   76 defer   65 reject   any other, or a signal: retry\n"
    "\n"
    "Examples:\n"
    "  shove worker orders --exec './handle-order' --dlq --hold 1s,10s,60s\n"
    "  shove worker mails --exec 'jq -r .to | xargs -I{} mail -s hello {}' --concurrency 4 --timeout 20s\n"
    "  shove worker thumbnails --exec 'convert - -resize 200x out/$SHOVE_ID.png' --topology topics.toml\n";

exit_code work(session& with, const worker_command& options) {
    worker_run run(with, options.plan);
    const auto served = serve_metrics(options.metrics);
    const auto broker = with.open(options.plan.concurrency, served.kept);
    const auto topic = declare_topic(broker, with.console(), options.queue, options.topology);
    if (topic.topic.topology->dead_letter_queue.empty() && !topic.settings.allow_message_loss) {
        with.console().warning("queue '" + options.queue +
                               "' has no dead-letter queue: messages that fail for good are discarded; give --dlq to " +
                               "keep them, or --allow-message-loss");
    }
    return run.execute(broker, topic);
}

void add_options(CLI::App& command, worker_command& options) {
    auto& plan = options.plan;
    command.add_option("QUEUE", options.queue, "Where to consume")->required()->option_text("(required)");
    command.add_option("--exec", plan.program, "The program to run for each message, as a shell command")
        ->required()
        ->option_text("PROGRAM");
    command.add_option("--concurrency", plan.concurrency, "Programs that run at once, at most")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str()
        ->option_text("N");
    add_duration_or_none(
        command, "--timeout", plan.timeout,
        "Time for one program; then its process group is told to end, and the message is retried (30s)");
    add_duration(command, "--grace", plan.grace, "How long it may take to end before it is killed (5s)");
    add_duration(command, "--drain", plan.drain, "How long running programs get after SIGTERM or Ctrl-C (30s)");
    command.add_option("--metrics", options.metrics, "Serve metrics to Prometheus there while it runs")
        ->option_text("HOST:PORT");
}

}  // namespace

void add_worker_command(CLI::App& app, action& chosen) {
    const auto options = std::make_shared<worker_command>();
    auto* command = app.add_subcommand("worker", "Run a program for each message");
    command->footer(examples);
    add_options(*command, *options);
    add_topology_options(*command, options->topology);
    command->callback([options, &chosen] { chosen = [options](session& with) { return work(with, *options); }; });
}

}  // namespace shove::cli
