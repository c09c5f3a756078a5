#include <shove/detail/json_writer.hpp>

#include "dlq.hpp"
#include "envelope.hpp"
#include "meter.hpp"
#include "table.hpp"

namespace shove::cli {
namespace {

/// A table of any length in flat memory: what is wide in one part stays wide.
class letter_table {
public:
    explicit letter_table(session& to)
        : to_(to), shown_({{"DIED"}, {"REASON"}, {"RETRIES", true}, {"ID"}, {"BODY"}, {"LAST ERROR"}}) {}

    bool add(const letter_view& letter) {
        const auto death = letter.death.value_or(death_view{});
        const std::string_view body(reinterpret_cast<const char*>(letter.payload.data()), letter.payload.size());
        shown_.add({time_text(death.at), cell_text(death.reason, 24), std::to_string(death.retries),
                    cell_text(letter.id, 36), cell_text(body, 40), cell_text(death.last_error, 60)});
        return shown_.rows() < 100 || flush();
    }
    bool flush() {
        if (shown_.rows() == 0) return true;
        std::string text = first_ ? to_.console().painted(shown_.header(), colour::bold) + '\n' : "";
        first_ = false;
        text += shown_.body();
        shown_.clear();
        return to_.out().write(text);
    }

private:
    static std::string time_text(wall_time at) {
        std::string text;
        detail::json_writer writer(text);
        const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
        if (at == wall_time{} || !writer.time(seconds, 1, 1)) return "-";
        writer.flush();
        return text.substr(1, text.size() - 2);
    }

    session& to_;
    table shown_;
    bool first_ = true;
};

/// One line for scripts, one for people.
exit_code report(session& with, std::string_view verb, const std::string& queue, const admin_progress& done,
                 bool dry_run) {
    if (!with.json()) {
        const auto count = dry_run ? done.matched : done.done;
        with.out().write((dry_run ? "would have " : "") + std::string(verb) + " " + grouped(count) + " of " +
                         grouped(done.seen) + " dead letters seen in '" + queue + "'\n");
        with.out().check();
        return exit_code::ok;
    }
    std::string line;
    detail::json_writer writer(line);
    writer.begin_object();
    writer.plain_key("dead_letter_queue");
    writer.lossy_string(queue);
    writer.plain_key("seen");
    writer.unsigned_integer(done.seen);
    writer.plain_key("matched");
    writer.unsigned_integer(done.matched);
    writer.plain_key(verb);
    writer.unsigned_integer(done.done);
    writer.plain_key("dry_run");
    writer.boolean(dry_run);
    writer.end_object();
    writer.flush();
    with.out().write(line += '\n');
    with.out().check();
    return exit_code::ok;
}

admin_progress count_only(const admin& tools, const std::string& queue, const letter_filter& filter, meter& progress) {
    std::uint64_t seen = 0;
    return tools.browse(queue, filter, [&](const spi::browsed&) {
        progress.show(++seen);
        return true;
    });
}

}  // namespace

exit_code list_letters(session& with, const dlq_command& options) {
    const auto broker = with.open();
    const auto queue = dead_queue_for(broker, options);
    envelope_writer writer;
    std::string line;
    letter_table shown(with);
    const auto done = broker.admin().browse(queue, options.filter, [&](const spi::browsed& letter) {
        id_buffer id;
        const auto view = view_of(letter, queue, id);
        if (!with.json()) return shown.add(view);
        line.clear();
        writer.append(view, line);
        return with.out().write(line);
    });
    shown.flush();
    with.out().check();
    if (!with.out().closed() && done.matched == 0)
        with.console().note("no dead letter of '" + queue + "' is concerned");
    return exit_code::ok;
}

exit_code replay_letters(session& with, const dlq_command& options) {
    const auto broker = with.open();
    const auto queue = dead_queue_for(broker, options);
    const auto tools = broker.admin();
    meter progress(with.console(), options.dry_run ? "counted" : "replayed");
    if (options.dry_run) {
        return report(with, "replayed", queue, count_only(tools, queue, options.filter, progress), true);
    }
    const auto done = tools.replay(queue, options.target, options.filter, [&](const admin_progress& now) {
        progress.show(now.done);
        return true;
    });
    return report(with, "replayed", queue, done, false);
}

exit_code purge_letters(session& with, const dlq_command& options) {
    const auto broker = with.open();
    const auto queue = dead_queue_for(broker, options);
    const auto tools = broker.admin();
    meter progress(with.console(), options.dry_run ? "counted" : "purged");
    if (options.dry_run) return report(with, "purged", queue, count_only(tools, queue, options.filter, progress), true);
    const auto done = tools.purge(queue, options.filter, [&](const admin_progress& now) {
        progress.show(now.done);
        return true;
    });
    return report(with, "purged", queue, done, false);
}

}  // namespace shove::cli
