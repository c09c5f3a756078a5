#include "store_work.hpp"

#include "failure.hpp"

#ifdef SHOVE_HAS_SQLITE

#include <shove/detail/json_writer.hpp>
#include <shove/sqlite.hpp>
#include <shove/sqlite_store.hpp>

#include <string_view>
#include <utility>
#include <vector>

#include "table.hpp"

namespace shove::cli {
namespace {

/// The file that `--url` names.
std::filesystem::path file_of(const session& with) {
    if (!with.url().starts_with("sqlite:")) {
        throw usage_failure("`shove store` looks after SQLite files; give --url sqlite:FILE");
    }
    const auto read = sqlite::parse(with.url());
    if (!read) throw usage_failure(read.error().message());
    return read->path;
}

using number = std::pair<std::string_view, std::uint64_t>;

/// One JSON line, or the text.
void answer(session& with, const std::vector<number>& numbers, const std::string& text) {
    std::string line = text + '\n';
    if (with.json()) {
        line.clear();
        detail::json_writer writer(line);
        writer.begin_object();
        for (const auto& [name, value] : numbers) {
            writer.plain_key(name);
            writer.unsigned_integer(value);
        }
        writer.end_object();
        writer.flush();
        line += '\n';
    }
    with.out().write(line);
    with.out().check();
}

void write_group(detail::json_writer& writer, const lease_group_stats& group) {
    writer.begin_object();
    writer.plain_key("group");
    writer.lossy_string(group.group);
    for (const auto& [name, value] :
         {number{"pending", group.pending}, number{"leased", group.leased}, number{"dead", group.dead}}) {
        writer.plain_key(name);
        writer.unsigned_integer(value);
    }
    writer.end_object();
}

std::string as_json(const lease_space_stats& space) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("namespace");
    writer.lossy_string(space.name_space);
    writer.plain_key("profile");
    writer.lossy_string(space.profile);
    const auto& limits = space.counts.limits;
    for (const auto& [name, value] :
         {number{"retained", space.counts.retained}, number{"max_retained", limits.retained_messages},
          number{"content_bytes", space.counts.payload_bytes}, number{"subscriptions", space.counts.subscriptions},
          number{"max_subscriptions", limits.subscriptions}, number{"max_attempts", limits.attempts},
          number{"max_payload_bytes", limits.payload_bytes}}) {
        writer.plain_key(name);
        writer.unsigned_integer(value);
    }
    writer.plain_key("topics");
    writer.begin_array();
    for (const auto& topic : space.counts.topics) {
        writer.begin_object();
        writer.plain_key("topic");
        writer.lossy_string(topic.topic);
        writer.plain_key("retained");
        writer.unsigned_integer(topic.retained);
        writer.plain_key("next_sequence");
        writer.unsigned_integer(topic.next_sequence);
        writer.plain_key("groups");
        writer.begin_array();
        for (const auto& group : topic.groups)
            write_group(writer, group);
        writer.end_array();
        writer.end_object();
    }
    writer.end_array();
    writer.end_object();
    writer.flush();
    return line += '\n';
}

void show_table(session& with, const std::vector<lease_space_stats>& all) {
    table shown(
        {{"NAMESPACE"}, {"TOPIC"}, {"RETAINED", true}, {"GROUP"}, {"PENDING", true}, {"LEASED", true}, {"DEAD", true}});
    for (const auto& space : all) {
        const auto of =
            std::to_string(space.counts.retained) + "/" + std::to_string(space.counts.limits.retained_messages);
        shown.add({space.name_space, "-", of, "-", "-", "-", "-"});
        for (const auto& topic : space.counts.topics) {
            shown.add({space.name_space, topic.topic, std::to_string(topic.retained), "-", "-", "-", "-"});
            for (const auto& group : topic.groups) {
                shown.add({space.name_space, topic.topic, "-", group.group, std::to_string(group.pending),
                           std::to_string(group.leased), std::to_string(group.dead)});
            }
        }
    }
    with.out().write(with.console().painted(shown.header(), colour::bold) + '\n' + shown.body());
}

}  // namespace

exit_code check_store(session& with, const store_request&) {
    const auto found = check_sqlite_store(file_of(with)).value();
    for (const auto& each : found.problems)
        with.console().error("storage_corrupt", each);
    const auto text = found.problems.empty() ? "ok: " + std::to_string(found.messages) + " messages of leases, " +
                                                   std::to_string(found.unread) + " of them sealed and not looked into"
                                             : std::to_string(found.problems.size()) + " problems";
    answer(with, {{"problems", found.problems.size()}, {"messages", found.messages}, {"sealed", found.unread}}, text);
    return found.problems.empty() ? exit_code::ok : exit_code::failure;
}

exit_code compact_store(session& with, const store_request&) {
    const auto size = compact_sqlite_store(file_of(with)).value();
    answer(with, {{"bytes_before", size.before}, {"bytes_after", size.after}},
           std::to_string(size.before) + " bytes before, " + std::to_string(size.after) + " after");
    return exit_code::ok;
}

exit_code migrate_store(session& with, const store_request&) {
    const auto version = migrate_sqlite_store(file_of(with)).value();
    const auto before = static_cast<std::uint64_t>(version.before);
    const auto after = static_cast<std::uint64_t>(version.after);
    answer(with, {{"schema_before", before}, {"schema_after", after}},
           "schema version " + std::to_string(before) + " before, " + std::to_string(after) + " after");
    return exit_code::ok;
}

exit_code show_store(session& with, const store_request&) {
    const auto all = sqlite_lease_stats(file_of(with)).value();
    if (with.json()) {
        for (const auto& each : all)
            with.out().write(as_json(each));
    } else {
        show_table(with, all);
    }
    with.out().check();
    return exit_code::ok;
}

exit_code set_store_limit(session& with, const store_request& what) {
    if (!what.retained_messages && !what.subscriptions && !what.attempts && !what.payload_bytes) {
        throw usage_failure("give at least one of --retained, --subscriptions, --attempts, --payload");
    }
    const lease_limit_change change{what.retained_messages, what.subscriptions, what.attempts, what.payload_bytes};
    const auto now = set_sqlite_lease_limits(file_of(with), what.name_space, change).value();
    answer(with,
           {{"max_retained", now.retained_messages},
            {"max_subscriptions", now.subscriptions},
            {"max_attempts", now.attempts},
            {"max_payload_bytes", now.payload_bytes}},
           "'" + what.name_space + "': " + std::to_string(now.retained_messages) + " messages, " +
               std::to_string(now.subscriptions) + " subscriptions, " + std::to_string(now.attempts) + " attempts, " +
               std::to_string(now.payload_bytes) + " payload bytes");
    return exit_code::ok;
}

exit_code rekey_store(session& with, const store_request& what) {
    const auto file = file_of(with);
    const auto keys = keyring::read(what.keys);
    if (!keys) throw usage_failure(keys.error().message());
    const auto done = rekey_sqlite_store(file, *keys).value();
    answer(with, {{"namespaces", done.name_spaces}, {"records", done.records}},
           std::to_string(done.records) + " records sealed anew under '" + keys->primary().id() + "', in " +
               std::to_string(done.name_spaces) + " sealed namespaces");
    return exit_code::ok;
}

exit_code import_store(session& with, const store_request& what) {
    const auto done = import_rullst_messaging(what.from, file_of(with)).value();
    answer(with,
           {{"namespaces", done.name_spaces},
            {"topics", done.topics},
            {"groups", done.groups},
            {"messages", done.messages},
            {"deliveries", done.deliveries}},
           std::to_string(done.messages) + " messages of " + std::to_string(done.topics) + " topics, for " +
               std::to_string(done.groups) + " groups");
    return exit_code::ok;
}

}  // namespace shove::cli

#else

namespace shove::cli {
namespace {

[[noreturn]] exit_code unable() {
    throw failure("unsupported", "this command was built without the SQLite backend");
}

}  // namespace

exit_code check_store(session&, const store_request&) {
    unable();
}
exit_code compact_store(session&, const store_request&) {
    unable();
}
exit_code migrate_store(session&, const store_request&) {
    unable();
}
exit_code show_store(session&, const store_request&) {
    unable();
}
exit_code set_store_limit(session&, const store_request&) {
    unable();
}
exit_code rekey_store(session&, const store_request&) {
    unable();
}
exit_code import_store(session&, const store_request&) {
    unable();
}

}  // namespace shove::cli

#endif
