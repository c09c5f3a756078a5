#include "doctor_checks.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "duration.hpp"
#include "failure.hpp"
#include "meter.hpp"

namespace shove::cli {
namespace {

/// What to do about an error whose own text does not say.
std::string remedy_for(const error_code& code) {
    static const std::vector<std::pair<errc, const char*>> known{
        {errc::invalid_argument, "correct the URL; `shove --help` shows how URLs look"},
        {errc::not_connected, "see that the broker runs, and that host and port are right"},
        {errc::connection_lost, "try again; if it stays so, look into the broker's log"},
        {errc::timed_out, "look for a network that is cut, or another process that holds it; --timeout waits longer"},
        {errc::storage_full, "free space on the disk"},
        {errc::storage_read_only, "see that this user may write the file and its folder"},
        {errc::storage_busy, "see which other process holds the file for so long"},
        {errc::storage_corrupt, "stop all programs that use it, and restore it from a backup"},
        {errc::version_mismatch, "use the version of shove that the other programs use"},
        {errc::unsupported, "this backend cannot tell; use the broker's own tools"},
    };
    const auto found = std::ranges::find(known, code, [](const auto& each) { return make_error_code(each.first); });
    return found == known.end() ? "look into the broker's log" : found->second;
}

finding failed(const std::string& check, const error& why) {
    return {check, verdict::failed, std::string(word_for(why.code)) + ": " + why.message(), remedy_for(why.code), {}};
}

/// How far a clock is from this machine's, given when it was asked and when it had answered.
finding clock_finding(wall_time theirs, wall_time asked, wall_time answered) {
    const auto off = std::chrono::duration_cast<milliseconds>(theirs - (asked + (answered - asked) / 2));
    const auto text = std::string("the broker's clock is ") + format_duration(milliseconds(std::abs(off.count()))) +
                      (off.count() < 0 ? " behind" : " ahead of") + " this machine's";
    if (std::abs(off.count()) <= 1'000) return {"clock", verdict::ok, text, {}, {}};
    return {"clock", verdict::warning, text, "set both by NTP: delays, expiry and ages are off by as much", {}};
}

wall_time now() {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

const char* yes_or_no(bool value) {
    return value ? "yes" : "no";
}

/// One topic: its differences, or its counts.
class topic_check {
public:
    topic_check(const comparison& of, const queue_topology& topic, milliseconds max_age)
        : of_(of), topic_(topic), max_age_(max_age), name_("queue " + topic.queue) {}

    std::vector<finding> run() {
        for (const auto& each : of_.differences) {
            if (each.topic == topic_.queue) found_.push_back({name_, verdict::failed, each.text, each.remedy, {}});
        }
        count();
        return std::move(found_);
    }

private:
    bool is_place(const spi::queue_info& row) const {
        return topic_.sequencing ? is_shard_of(row.name, topic_.reader_queue) : row.name == topic_.reader_queue;
    }

    void count() {
        spi::queue_depth sum;
        std::set<std::string> graves{topic_.dead_letter_queue};
        bool there = false;
        for (const auto& row : of_.there) {
            if (!is_place(row)) continue;
            there = true;
            sum.ready += row.depth.ready;
            sum.in_flight += row.depth.in_flight;
            sum.delayed += row.depth.delayed;
            sum.oldest_age = std::max(sum.oldest_age, row.depth.oldest_age);
            graves.insert(row.dead_letter_queue);
        }
        if (!there) return;
        graves.erase("");
        tell_load(sum);
        for (const auto& each : graves)
            tell_dead(each);
        if (graves.empty()) {
            found_.push_back({name_,
                              verdict::note,
                              "it keeps no dead letters: messages that die are discarded",
                              "declare it with a dead-letter queue (--dlq) if that is not meant",
                              {}});
        }
    }

    void tell_load(const spi::queue_depth& sum) {
        finding load{name_,
                     verdict::ok,
                     grouped(sum.ready) + " ready, " + grouped(sum.in_flight) + " in flight, " + grouped(sum.delayed) +
                         " delayed; the oldest waits for " + age_text(sum.oldest_age),
                     {},
                     {}};
        if (!sum.oldest_age) load.text = load.text.substr(0, load.text.find(';'));
        if (sum.oldest_age && *sum.oldest_age > max_age_) {
            load.is = verdict::warning;
            load.remedy = "see that its consumers run, and are enough (`shove worker " + topic_.queue + " --exec …`)";
        }
        found_.push_back(std::move(load));
    }

    void tell_dead(const std::string& grave) {
        const auto row = std::ranges::find(of_.there, grave, &spi::queue_info::name);
        if (row == of_.there.end()) return;
        const auto& depth = row->depth;
        const auto dead = depth.ready + depth.in_flight + depth.delayed;
        if (dead == 0) return found_.push_back({name_, verdict::ok, "no dead letters in '" + grave + "'", {}, {}});
        const auto at = topic_.queue + " --dead-queue " + grave;
        found_.push_back({name_,
                          verdict::warning,
                          grouped(dead) + (dead == 1 ? " dead letter in '" : " dead letters in '") + grave +
                              "', the oldest " + age_text(depth.oldest_age) + " old",
                          "see why with `shove dlq list " + at + "`, then replay or purge them",
                          {}});
    }

    const comparison& of_;
    const queue_topology& topic_;
    const milliseconds max_age_;
    const std::string name_;
    std::vector<finding> found_;
};

}  // namespace

std::string milliseconds_text(std::chrono::duration<double, std::milli> took) {
    auto text = std::to_string(took.count());
    return text.substr(0, text.find('.') + 4) + " ms";
}

finding connect_failure(const error& why) {
    return failed(why == errc::invalid_argument ? "url" : "connect", why);
}

finding check_ping(const any_broker& broker, milliseconds deadline) {
    auto best = std::chrono::duration<double, std::milli>::max();
    for (int i = 0; i < 3; ++i) {
        const auto started = std::chrono::steady_clock::now();
        const auto answer = broker.ping(deadline);
        if (!answer) return failed("ping", answer.error());
        best = std::min<std::chrono::duration<double, std::milli>>(best, std::chrono::steady_clock::now() - started);
    }
    return {"ping", verdict::ok, "answered in " + milliseconds_text(best), {}, {}};
}

std::vector<finding> check_broker(const any_broker& broker, std::string_view version) {
    finding told{"broker", verdict::ok, std::string(broker.capabilities().backend), {}, {}};
    try {
        const auto asked = now();
        auto description = broker.describe();
        const auto answered = now();
        told.facts = std::move(description.facts);
        told.facts.push_back({"shove", std::string(version)});
        if (description.clock) return {told, clock_finding(*description.clock, asked, answered)};
        return {told, {"clock", verdict::note, "the broker has no clock but this machine's", {}, {}}};
    } catch (const exception& e) {
        return {failed("broker", e.cause())};
    }
}

finding list_capabilities(const spi::capabilities& can) {
    const std::vector<std::pair<const char*, bool>> flags{{"durable", can.durable},
                                                          {"several_processes", can.several_processes},
                                                          {"delayed_publish", can.delayed_publish},
                                                          {"any_delay", can.any_delay},
                                                          {"ordered_completion", can.ordered_completion},
                                                          {"crash_budget", can.crash_budget},
                                                          {"admin", can.admin},
                                                          {"key_order", can.key_order},
                                                          {"keeps_keys", can.keeps_keys},
                                                          {"broadcast", can.broadcast},
                                                          {"broadcast_history", can.broadcast_history},
                                                          {"reader_groups", can.reader_groups},
                                                          {"coordinated_groups", can.coordinated_groups},
                                                          {"external_topology", can.external_topology}};
    finding table{"capabilities", verdict::ok, "what the backend can do", {}, {}};
    for (const auto& [name, value] : flags)
        table.facts.push_back({name, yes_or_no(value)});
    table.facts.push_back({"lease", can.lease.count() == 0 ? "until the consumer goes" : format_duration(can.lease)});
    table.facts.push_back({"max_delay", format_duration(can.max_delay)});
    table.facts.push_back({"max_message_bytes", std::to_string(can.max_message_bytes)});
    table.facts.push_back({"max_queue_name_bytes", std::to_string(can.max_queue_name_bytes)});
    return table;
}

std::vector<finding> check_topics(const any_broker& broker, const std::vector<topic_settings>& asked, bool laid_out,
                                  milliseconds max_age) {
    try {
        const auto found = compare_with(broker, asked, laid_out);
        std::vector<finding> all;
        for (const auto& each : found.topics)
            std::ranges::move(topic_check(found, *each.topology, max_age).run(), std::back_inserter(all));
        return all;
    } catch (const exception& e) {
        return {failed("topology", e.cause())};
    }
}

}  // namespace shove::cli
