#include <CLI/CLI.hpp>

#include <memory>

#include "command.hpp"
#include "store_work.hpp"

namespace shove::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  shove store check --url sqlite:billing.db || echo 'damaged'\n"
    "  shove store stats --url sqlite:billing.db\n"
    "  shove store compact --url sqlite:billing.db      while nobody else uses it\n"
    "  shove store set-limit --namespace billing --retained 50000 --url sqlite:billing.db\n"
    "  shove store import rullst.db --url sqlite:billing.db\n"
    "  shove store rekey --keys lease.keys --url sqlite:billing.db\n"
    "  shove store migrate --url sqlite:billing.db      opening it does this too\n";

using work = exit_code (*)(session&, const store_request&);

CLI::App* add_one(CLI::App& parent, const std::string& name, const std::string& help,
                  const std::shared_ptr<store_request>& asked, work does, action& chosen) {
    auto* command = parent.add_subcommand(name, help);
    command->footer(examples);
    command->callback([asked, does, &chosen] { chosen = [asked, does](session& with) { return does(with, *asked); }; });
    return command;
}

}  // namespace

void add_store_command(CLI::App& app, action& chosen) {
    const auto asked = std::make_shared<store_request>();
    auto* command = app.add_subcommand("store", "Look after the file of an SQLite store");
    command->require_subcommand(0, 1);
    command->footer(examples);
    add_one(*command, "check", "Look for damage; fails where there is any", asked, check_store, chosen);
    add_one(*command, "compact", "Write the file anew without its free pages", asked, compact_store, chosen);
    add_one(*command, "migrate", "Bring the file's schema up to date", asked, migrate_store, chosen);
    add_one(*command, "stats", "Show the leases' namespaces, topics and groups with their counts", asked, show_store,
            chosen);
    auto* limit =
        add_one(*command, "set-limit", "Change what a namespace of leases may hold", asked, set_store_limit, chosen);
    limit->add_option("--namespace", asked->name_space, "The namespace")->capture_default_str();
    limit->add_option("--retained", asked->retained_messages, "Messages, 1 to 100000000")->type_name("COUNT");
    limit->add_option("--subscriptions", asked->subscriptions, "Groups of all topics, 1 to 65536")->type_name("COUNT");
    limit->add_option("--attempts", asked->attempts, "Deliveries of a message, 1 to 100")->type_name("COUNT");
    limit->add_option("--payload", asked->payload_bytes, "Bytes of a payload, 1 to 16777216")->type_name("BYTES");
    auto* rekey = add_one(*command, "rekey", "Seal anew what another key than the first has sealed; others may go on",
                          asked, rekey_store, chosen);
    rekey->add_option("--keys", asked->keys, "File of keys, mode 600: one ID:SECRET a line, the first one seals")
        ->required()
        ->type_name("FILE");
    auto* import =
        add_one(*command, "import", "Copy a file of rullst-messaging into the store", asked, import_store, chosen);
    import->add_option("FILE", asked->from, "The file to copy; it is only read")->required();
}

}  // namespace shove::cli
