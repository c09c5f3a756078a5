#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "command.hpp"
#include "failure.hpp"
#include "meter.hpp"
#include "option_types.hpp"
#include "publish_batcher.hpp"
#include "topology_settings.hpp"

namespace shove::cli {
namespace {

struct publish_command {
    std::string queue;
    topology_flags topology;
    publish_plan plan;
    std::vector<std::string> headers;
};

constexpr const char* examples =
    "Examples:\n"
    "  printf '%s\\n' '{\"order\":1}' '{\"order\":2}' | shove publish orders --dlq --hold 1s,5s\n"
    "  shove publish orders --header source=import --batch 500 < orders.ndjson\n"
    "  shove publish thumbnails --whole --content-type image/png < photo.png\n"
    "  shove consume orders --count 10 | shove publish orders-copy --envelope\n"
    "  tail -F app.log | shove publish logs\n";

/// `NAME=VALUE` as a text header. Throws `usage_failure`.
void add_header(headers& to, const std::string& written) {
    const auto sign = written.find('=');
    if (sign == written.npos || sign == 0) {
        throw usage_failure("--header '" + written + "': give NAME=VALUE, for example source=import");
    }
    const auto name = written.substr(0, sign);
    if (is_reserved_header(name)) {
        throw usage_failure("--header '" + name + "': names beginning so are reserved for shove; choose another");
    }
    to.add(name, std::string_view(written).substr(sign + 1));
}

void report(session& with, const publish_command& options, const publish_batcher& done, const meter& time) {
    const auto seconds = time.elapsed_seconds();
    if (!with.json()) {
        with.console().note("published " + grouped(done.published()) + " to '" + options.queue + "'");
        return;
    }
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("queue");
    writer.string(options.queue);
    writer.plain_key("published");
    writer.unsigned_integer(done.published());
    writer.plain_key("failed");
    writer.unsigned_integer(done.failed());
    writer.plain_key("elapsed_s");
    writer.number(seconds);
    writer.end_object();
    writer.flush();
    with.out().write(line += '\n');
}

exit_code publish(session& with, publish_command options) {
    for (const auto& each : options.headers)
        add_header(options.plan.headers, each);
    const auto broker = with.open();
    const auto topic = declare_topic(broker, with.console(), options.queue, options.topology);
    options.plan.key_field = topic.settings.key_field;
    publish_batcher batcher(broker.publisher(), topic.topic, options.plan, with.console());
    meter progress(with.console(), "published");
    bool fine = true;
    try {
        while (fine && batcher.collect()) {
            fine = batcher.send();
            progress.show(batcher.published());
        }
    } catch (const failure& e) {
        with.console().error(e.code(), e.what());
        fine = false;
    }
    report(with, options, batcher, progress);
    return fine ? exit_code::ok : exit_code::failure;
}

void add_options(CLI::App& command, publish_command& options) {
    auto& plan = options.plan;
    command.add_option("QUEUE", options.queue, "Where to publish")->required()->option_text("(required)");
    auto* envelope = command.add_flag("--envelope", plan.envelopes, "Lines are as `shove consume` prints them");
    command.add_flag("--whole", plan.whole, "All of the input is one body, not each line")->excludes(envelope);
    command.add_option("--header", options.headers, "Adds a text header; may be repeated")
        ->option_text("NAME=VALUE")
        ->allow_extra_args(false);
    command.add_option("--key", plan.key, "Sequence key of each message that brings none")->option_text("KEY");
    command.add_option("--content-type", plan.content_type, "application/json where the body is JSON, else bytes")
        ->option_text("TYPE");
    command.add_option("--type", plan.type, "Name of the message type")->option_text("NAME");
    command.add_option("--batch", plan.batch, "Messages in one call to the broker, at most")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str()
        ->option_text("N");
    add_duration(command, "--delay", plan.delay, "Hand messages out no earlier than this from now");
    add_duration(command, "--expires-in", plan.expires_in, "Dead-letter a message that is not handled by then");
    add_duration(command, "--timeout", plan.timeout, "How long to wait for room and confirmation (30s)");
}

}  // namespace

void add_publish_command(CLI::App& app, action& chosen) {
    const auto options = std::make_shared<publish_command>();
    auto* command = app.add_subcommand("publish", "Publish each line of the input as a message");
    command->footer(examples);
    add_options(*command, *options);
    add_topology_options(*command, options->topology);
    command->callback([options, &chosen] { chosen = [options](session& with) { return publish(with, *options); }; });
}

}  // namespace shove::cli
