#include "topology_work.hpp"

#include <shove/detail/json_writer.hpp>
#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <map>

#include "failure.hpp"
#include "table.hpp"
#include "topology_difference.hpp"

namespace shove::cli {

declared_topologies comparison::declared() const {
    declared_topologies all;
    all.reserve(topics.size());
    for (const auto& each : topics)
        all.push_back(each.topology);
    return all;
}

namespace {

void keep_dead_letters(topic_settings& settings, const std::vector<spi::queue_info>& there) {
    const auto row = std::ranges::find(there, settings.queue, &spi::queue_info::name);
    if (row == there.end() || row->dead_letter_queue.empty()) return;
    settings.dlq = true;
    settings.dlq_name = row->dead_letter_queue;
}

}  // namespace

comparison compare_with(const any_broker& broker, std::vector<topic_settings> asked, bool laid_out) {
    comparison made;
    made.there = broker.admin().queues();
    made.topics.reserve(asked.size());
    for (auto& each : asked) {
        if (!laid_out) keep_dead_letters(each, made.there);
        made.topics.push_back(make_topic(each));
    }
    made.differences = compare(made.declared(), made.there, !broker.capabilities().any_delay);
    return made;
}

namespace {

void put_text(detail::json_writer& writer, std::string_view name, const std::string& value) {
    writer.plain_key(name);
    if (value.empty()) {
        writer.null();
    } else {
        writer.lossy_string(value);
    }
}

/// @param done  Whether it was made just now.
std::string as_json(const difference& what, bool done) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("difference");
    writer.string(word_for(what.what));
    put_text(writer, "topic", what.topic);
    put_text(writer, "name", what.name);
    put_text(writer, "declared", what.declared);
    put_text(writer, "found", what.found);
    writer.plain_key("can_be_made");
    writer.boolean(what.can_be_made());
    writer.plain_key("made");
    writer.boolean(done);
    put_text(writer, "text", what.text);
    put_text(writer, "remedy", what.remedy);
    writer.end_object();
    writer.flush();
    return line += '\n';
}

std::string leftover_json(const std::string& name) {
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    put_text(writer, "leftover", name);
    writer.end_object();
    writer.flush();
    return line += '\n';
}

std::string counted(std::size_t n, const std::string& one, const std::string& many) {
    return std::to_string(n) + ' ' + (n == 1 ? one : many);
}

void print(session& with, const difference& what, bool done) {
    if (with.json()) {
        with.out().write(as_json(what, done));
    } else if (done && what.what == difference::kind::other_shards) {
        with.out().write(with.console().painted("+ ", colour::green) + "'" + cell_text(what.name, 200) + "' has " +
                         counted(std::stoul(what.declared), "shard", "shards") + " now\n");
    } else if (done) {
        with.out().write(with.console().painted("+ ", colour::green) + "made '" + cell_text(what.name, 200) + "'\n");
    } else {
        const bool makes = what.can_be_made();
        with.out().write(with.console().painted(makes ? "+ " : "! ", makes ? colour::green : colour::yellow) +
                         cell_text(what.text, 1'000) + "\n    " + cell_text(what.remedy, 1'000) + '\n');
    }
}

/// Where all topics of a file are asked for: the queues that none of them explains.
void print_leftovers(session& with, const topology_request& request, const comparison& of) {
    if (!request.queue.empty()) return;
    for (const auto& each : leftovers(of.declared(), of.there, of.differences)) {
        with.out().write(with.json() ? leftover_json(each)
                                     : "  queue '" + cell_text(each, 200) + "' is there and not declared\n");
    }
}

/// The last line: how many topics, and how many differences are left.
void print_end(session& with, const comparison& of, std::size_t left) {
    const auto topics = std::to_string(of.topics.size());
    if (with.json()) {
        with.out().write(std::string("{\"ok\":") + (left == 0 ? "true" : "false") + ",\"topics\":" + topics +
                         ",\"differences\":" + std::to_string(left) + "}\n");
    } else if (left == 0) {
        with.out().write("ok: " + counted(of.topics.size(), "topic", "topics") + '\n');
    } else {
        with.out().write(counted(left, "difference", "differences") + " in " +
                         counted(of.topics.size(), "topic", "topics") + '\n');
    }
    with.out().check();
}

/// Whether declaring a topic changes nothing but what is missing.
bool may_be_declared(const comparison& of, const std::string& topic) {
    return std::ranges::none_of(of.differences,
                                [&topic](const auto& each) { return each.topic == topic && !each.can_be_made(); });
}

/// Whether all that differs is the number of shards, beside what is missing.
bool only_shards_differ(const comparison& of, const std::string& topic) {
    return std::ranges::none_of(of.differences, [&topic](const auto& each) {
        return each.topic == topic && each.what != difference::kind::other_shards && !each.can_be_made();
    });
}

bool is_drained(const comparison& of, const queue_topology& topic) {
    return std::ranges::none_of(of.there, [&topic](const auto& row) {
        const auto& held = row.depth;
        return is_shard_of(row.name, topic.reader_queue) && held.ready + held.in_flight + held.delayed > 0;
    });
}

/// Whether a URL has the option of that name set. A backend that has it not refuses it.
bool has_option(std::string_view url, std::string_view name) {
    for (auto at = url.find('?'); at != url.npos; at = url.find('&', at + 1)) {
        const auto one = url.substr(at + 1, url.find('&', at + 1) - at - 1);
        const auto equals = one.find('=');
        if (equals == one.npos || one.substr(0, equals) != name) continue;
        return spi::truth(one.substr(equals + 1)).value_or(false);
    }
    return false;
}

bool lacks_something(const comparison& of, const std::string& topic) {
    return std::ranges::any_of(of.differences, [&topic](const auto& each) { return each.topic == topic; });
}

/// The differences, all of them still there.
comparison shown(session& with, const topology_request& request) {
    auto asked = asked_for(request);
    const auto broker = with.open();
    auto found = compare_with(broker, std::move(asked), request.flags.given());
    for (const auto& each : found.differences)
        print(with, each, false);
    print_leftovers(with, request, found);
    print_end(with, found, found.differences.size());
    return found;
}

}  // namespace

exit_code plan_topology(session& with, const topology_request& request) {
    shown(with, request);
    return exit_code::ok;
}

exit_code check_topology(session& with, const topology_request& request) {
    return shown(with, request).differences.empty() ? exit_code::ok : exit_code::failure;
}

exit_code apply_topology(session& with, const topology_request& request) {
    auto asked = asked_for(request);
    const auto broker = with.open();
    auto before = compare_with(broker, asked, request.flags.given());
    const bool allowed = has_option(with.url(), "allow_resharding");
    std::map<std::string, std::string> refused;  // by topic
    for (const auto& each : before.topics) {
        const auto& queue = each.topology->queue;
        if (!lacks_something(before, queue)) continue;
        if (may_be_declared(before, queue)) {
            broker.declare(each);
        } else if (only_shards_differ(before, queue) && (allowed || is_drained(before, *each.topology))) {
            try {
                broker.declare(each);
            } catch (const exception& e) {
                if (e.cause() != errc::topology_mismatch) throw;
                refused[queue] = e.cause().message();
            }
        }
    }
    const auto after = compare_with(broker, std::move(asked), request.flags.given());
    const auto is_left = [&after](const difference& one) {
        return std::ranges::any_of(after.differences, [&one](const auto& other) {
            return other.what == one.what && other.topic == one.topic && other.name == one.name;
        });
    };
    for (auto& each : before.differences) {
        const bool left = is_left(each);
        const auto why = refused.find(each.topic);
        if (left && why != refused.end()) each.remedy = why->second;
        print(with, each, !left);
    }
    print_leftovers(with, request, after);
    print_end(with, after, after.differences.size());
    return after.differences.empty() ? exit_code::ok : exit_code::failure;
}

}  // namespace shove::cli
