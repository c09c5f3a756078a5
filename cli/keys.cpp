#include <CLI/CLI.hpp>

#include <memory>

#include "command.hpp"
#include "failure.hpp"
#include "table.hpp"
#include "topology_settings.hpp"

#include <shove/detail/json_text.hpp>
#include <shove/detail/json_writer.hpp>

namespace shove::cli {
namespace {

struct keys_command {
    std::string queue;
    std::string key;
    topology_flags topology;
};

constexpr const char* examples =
    "A topic that is sequenced with fail-all stops a key when one of its messages dies: what follows is\n"
    "dead-lettered unhandled, until the key is released.\n"
    "\n"
    "Examples:\n"
    "  shove keys list orders --sequenced fail-all --hold 1s --dlq\n"
    "  shove keys release orders customer-17 --topology topics.toml\n"
    "  shove dlq replay orders --reason poisoned     then, for what was dead-lettered meanwhile\n";

runtime_topic sequenced_topic(const keys_command& options) {
    auto topic = make_topic(settings_for(options.queue, options.topology));
    if (topic.topology->sequencing) return topic;
    throw usage_failure("keys belong to sequenced topics; give the layout of '" + options.queue +
                        "', for example --sequenced fail-all --hold 1s --dlq, or --topology FILE");
}

std::string as_json(const spi::poisoned_key& key) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("key");
    writer.lossy_string(key.key);
    writer.plain_key("shard");
    writer.lossy_string(key.queue);
    writer.plain_key("since");
    if (!writer.time(key.since.time_since_epoch().count(), 1, 1'000'000)) writer.null();
    writer.end_object();
    writer.flush();
    return line += '\n';
}

exit_code list(session& with, const keys_command& options) {
    const auto topic = sequenced_topic(options);
    const auto broker = with.open();
    check_shards(broker, *topic.topology);
    const auto found = broker.admin().keys(*topic.topology);
    table shown({{"KEY"}, {"SHARD"}});
    for (const auto& each : found) {
        if (with.json()) {
            with.out().write(as_json(each));
        } else {
            shown.add({cell_text(each.key, 60), cell_text(each.queue, 60)});
        }
    }
    if (!with.json() && found.empty()) with.console().note("no key of '" + options.queue + "' is poisoned");
    if (!with.json() && !found.empty()) {
        with.out().write(with.console().painted(shown.header(), colour::bold) + '\n' + shown.body());
    }
    with.out().check();
    return exit_code::ok;
}

exit_code release(session& with, const keys_command& options) {
    const auto topic = sequenced_topic(options);
    const auto broker = with.open();
    check_shards(broker, *topic.topology);
    if (!broker.admin().release_key(*topic.topology, options.key)) {
        throw failure("unknown_key", "key '" + options.key + "' of '" + options.queue +
                                         "' is not poisoned; `shove keys list` shows those that are");
    }
    with.console().note("released key '" + options.key + "' of '" + options.queue + "'");
    return exit_code::ok;
}

using work = exit_code (*)(session&, const keys_command&);

CLI::App* add_one(CLI::App& parent, const std::string& name, const std::string& help, work task, action& chosen,
                  const std::shared_ptr<keys_command>& options) {
    auto* command = parent.add_subcommand(name, help);
    command->footer(examples);
    command->add_option("QUEUE", options->queue, "The sequenced topic's queue")->required()->option_text("(required)");
    add_topology_options(*command, options->topology);
    command->callback(
        [options, task, &chosen] { chosen = [options, task](session& with) { return task(with, *options); }; });
    return command;
}

}  // namespace

void add_keys_command(CLI::App& app, action& chosen) {
    auto* command = app.add_subcommand("keys", "List or release poisoned keys of a sequenced topic");
    command->require_subcommand(0, 1);
    command->footer(examples);
    add_one(*command, "list", "Show the keys that are poisoned", list, chosen, std::make_shared<keys_command>());
    const auto options = std::make_shared<keys_command>();
    add_one(*command, "release", "Let a key go on", release, chosen, options)
        ->add_option("KEY", options->key, "The key")
        ->required()
        ->option_text("(required)");
}

}  // namespace shove::cli
