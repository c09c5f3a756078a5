#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

#include "command.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "meter.hpp"
#include "table.hpp"
#include "topology_settings.hpp"

#include <shove/detail/json_writer.hpp>

namespace shove::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  shove queues                  all queues: ready, in flight, delayed, dead\n"
    "  shove queues orders --json    one of them, as a JSON line\n";

std::vector<spi::queue_info> wanted(const any_broker& broker, const std::vector<std::string>& names) {
    auto all = broker.admin().queues();
    if (names.empty()) return all;
    std::vector<spi::queue_info> found;
    for (const auto& name : names) {
        const auto place = std::ranges::find(all, name, &spi::queue_info::name);
        if (place != all.end()) {
            found.push_back(*place);
            continue;
        }
        const auto before = found.size();
        std::ranges::copy_if(all, std::back_inserter(found),
                             [&](const auto& each) { return is_shard_of(each.name, name); });
        if (found.size() == before) {
            throw failure("unknown_queue", "there is no queue '" + name + "'; `shove queues` lists what there is");
        }
    }
    return found;
}

std::string as_json(const spi::queue_info& info) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("queue");
    writer.lossy_string(info.name);
    const auto put = [&writer](std::string_view name, std::uint64_t value) {
        writer.plain_key(name);
        writer.unsigned_integer(value);
    };
    put("ready", info.depth.ready);
    put("in_flight", info.depth.in_flight);
    put("delayed", info.depth.delayed);
    put("dead", info.dead);
    writer.plain_key("dead_letter_queue");
    if (info.dead_letter_queue.empty()) {
        writer.null();
    } else {
        writer.lossy_string(info.dead_letter_queue);
    }
    writer.plain_key("oldest_age_ms");
    if (info.depth.oldest_age) {
        writer.integer(info.depth.oldest_age->count());
    } else {
        writer.null();
    }
    writer.end_object();
    writer.flush();
    return line += '\n';
}

exit_code show_queues(session& with, const std::vector<std::string>& names) {
    const auto broker = with.open();
    const auto found = wanted(broker, names);
    table shown({{"QUEUE"}, {"READY", true}, {"IN FLIGHT", true}, {"DELAYED", true}, {"DEAD", true}, {"OLDEST", true}});
    for (const auto& each : found) {
        if (with.json()) {
            with.out().write(as_json(each));
            continue;
        }
        shown.add({cell_text(each.name, 60), grouped(each.depth.ready), grouped(each.depth.in_flight),
                   grouped(each.depth.delayed), each.dead_letter_queue.empty() ? "-" : grouped(each.dead),
                   age_text(each.depth.oldest_age)});
    }
    if (!with.json() && found.empty()) with.console().note("there are no queues yet");
    if (!with.json() && !found.empty()) {
        with.out().write(with.console().painted(shown.header(), colour::bold) + '\n' + shown.body());
    }
    with.out().check();
    return exit_code::ok;
}

}  // namespace

void add_queues_command(CLI::App& app, action& chosen) {
    const auto names = std::make_shared<std::vector<std::string>>();
    auto* command = app.add_subcommand("queues", "Show queues and how many messages they hold");
    command->footer(examples);
    command->add_option("QUEUE", *names, "Only these")->option_text("(optional)");
    command->callback([names, &chosen] { chosen = [names](session& with) { return show_queues(with, *names); }; });
}

}  // namespace shove::cli
