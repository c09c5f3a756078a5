#include <CLI/CLI.hpp>

#include "option_types.hpp"
#include "topology_settings.hpp"

namespace shove::cli {

void add_topology_options(CLI::App& app, topology_flags& flags) {
    constexpr const char* group = "Topology of the queue";
    auto& layout = flags.layout;
    const auto excluded = {
        add_durations(app, "--hold", layout.holds,
                      "Delays before the calls after a retry, the last one again and again"),
        app.add_flag("--dlq", layout.dlq, "Keep dead letters in QUEUE-dlq"),
        app.add_option_function<std::string>(
               "--dlq-named",
               [&layout](const std::string& name) {
                   layout.dlq = true;
                   layout.dlq_name = name;
               },
               "Keep dead letters in the queue of that name")
            ->option_text("NAME"),
        app.add_flag("--allow-message-loss", layout.allow_message_loss,
                     "Accept that messages are discarded where there is no dead-letter queue"),
        app.add_option_function<std::string>(
               "--sequenced",
               [&layout](const std::string& policy) {
                   layout.sequenced = policy == "skip" ? sequence_failure::skip : sequence_failure::fail_all;
               },
               "Keep order per key; when a message dies, skip it or fail all later ones of its key")
            ->check(CLI::IsMember({"skip", "fail-all"}))
            ->option_text("skip|fail-all"),
        app.add_option("--shards", layout.shards, "Shards of a sequenced topic (8); all that use it must agree")
            ->check(CLI::Range(1, 65'535))
            ->option_text("N"),
        app.add_option("--key-field", layout.key_field, "The member of a JSON body that is its sequence key")
            ->option_text("NAME"),
    };
    auto* file = app.add_option("--topology", flags.file, "Take the layout from a TOML file that lists topics")
                     ->option_text("FILE")
                     ->group(group);
    for (auto* each : excluded)
        each->group(group)->excludes(file);
    app.add_option("--max-retries", layout.max_retries, "Failed calls before a message is dead (10)")
        ->option_text("N")
        ->group(group);
}

}  // namespace shove::cli
