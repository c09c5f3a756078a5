#include <shove/open.hpp>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <memory>

#include "doctor_checks.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "option_types.hpp"
#include "redacted_url.hpp"
#include "within.hpp"

#ifndef SHOVE_VERSION
#define SHOVE_VERSION "unknown"
#endif

namespace shove::cli {
namespace {

struct doctor_request {
    std::string url;
    milliseconds deadline{5'000};
    milliseconds max_age{300'000};
    std::vector<std::string> queues;
    topology_flags flags;
};

constexpr const char* examples =
    "Examples:\n"
    "  shove doctor\n"
    "  shove doctor sqlite:///var/lib/app/queue.db --topology topics.toml\n"
    "  shove doctor --queue orders --queue mails --max-age 1m --json\n";

/// The queues to look at; none: none are asked about. Throws `usage_failure`.
std::vector<topic_settings> topics_of(const doctor_request& request) {
    if (request.queues.empty() && !request.flags.file.empty()) return read_topology_file(request.flags.file);
    if (request.queues.empty() && request.flags.given()) {
        throw usage_failure("a layout says nothing without its queue; add --queue NAME, or give --topology FILE");
    }
    std::vector<topic_settings> topics;
    topics.reserve(request.queues.size());
    for (const auto& each : request.queues)
        topics.push_back(settings_for(each, request.flags));
    return topics;
}

/// One examination: prints each finding, without secrets, and remembers how it went.
class examination {
public:
    examination(session& with, const doctor_request& request)
        : out_(with),
          request_(request),
          topics_(topics_of(request)),
          url_(request.url.empty() ? with.url() : request.url),
          shown_(url_) {}

    exit_code run() {
        if (connect()) look_around();
        tell_end();
        out_.out().check();
        const auto code = failed_ == 0 ? exit_code::ok : exit_code::failure;
        // What hangs uses the broker and the console: neither may go before the process.
        if (hangs_) std::_Exit(static_cast<int>(code));
        return code;
    }

private:
    void add(finding what) {
        what.text = shown_.clean(std::move(what.text));
        what.remedy = shown_.clean(std::move(what.remedy));
        for (auto& each : what.facts)
            each.value = shown_.clean(std::move(each.value));
        failed_ += what.is == verdict::failed ? 1 : 0;
        warnings_ += what.is == verdict::warning ? 1 : 0;
        print(out_, what);
    }

    void add(std::vector<finding> all) {
        for (auto& each : all)
            add(std::move(each));
    }

    bool connect() {
        const auto started = std::chrono::steady_clock::now();
        try {
            auto opened = within(request_.deadline, [url = url_, options = logging()] {
                return std::make_shared<const any_broker>(shove::open(url, options));
            });
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
            add({"url", verdict::ok, shown_.text(), {}, {}});
            if (!opened) return give_up("connect");
            broker_ = std::move(*opened);
            add({"connect", verdict::ok, "in " + milliseconds_text(took), {}, {}});
            return true;
        } catch (const exception& e) {
            if (!(e.cause() == errc::invalid_argument)) add({"url", verdict::ok, shown_.text(), {}, {}});
            add(connect_failure(e.cause()));
        }
        return false;
    }

    /// What the broker logs goes to the console, without secrets.
    broker_options logging() {
        broker_options options;
        options.log = [to = &out_.console(), shown = shown_](log_level level, std::string_view text) {
            if (level == log_level::warning) to->warning(shown.clean(std::string(text)));
            if (level == log_level::error) to->error("broker", shown.clean(std::string(text)));
        };
        return options;
    }

    void look_around() {
        const auto broker = broker_;
        const bool answers = step("ping", [broker, deadline = request_.deadline] {
            return std::vector<finding>{check_ping(*broker, deadline)};
        });
        if (answers) step("broker", [broker] { return check_broker(*broker, SHOVE_VERSION); });
        add(list_capabilities(broker->capabilities()));
        if (!answers || topics_.empty()) return;
        step("topology", [broker, topics = topics_, laid_out = request_.flags.given(), age = request_.max_age] {
            return check_topics(*broker, topics, laid_out, age);
        });
    }

    /// Looks at something; false where it does not answer or has failed.
    template <class Look>
    bool step(const char* what, Look look) {
        // The broker's own deadline comes first: it says more.
        auto found = within(request_.deadline + milliseconds(500), std::move(look));
        if (!found) return give_up(what);
        const auto before = failed_;
        add(std::move(*found));
        return failed_ == before;
    }

    bool give_up(const char* what) {
        hangs_ = true;
        const error late(errc::timed_out, "no answer within " + format_duration(request_.deadline));
        auto told = connect_failure(late);
        told.check = what;
        add(std::move(told));
        return false;
    }

    void tell_end() {
        const auto counts = "\"failed\":" + std::to_string(failed_) + ",\"warnings\":" + std::to_string(warnings_);
        if (out_.json()) {
            out_.out().write(std::string("{\"ok\":") + (failed_ == 0 ? "true," : "false,") + counts + "}\n");
        } else if (failed_ + warnings_ == 0) {
            out_.out().write("all well\n");
        } else {
            out_.out().write(std::to_string(failed_) + " failed, " + std::to_string(warnings_) + " to look at\n");
        }
    }

    session& out_;
    const doctor_request& request_;
    const std::vector<topic_settings> topics_;
    const std::string url_;
    const redacted_url shown_;
    std::shared_ptr<const any_broker> broker_;
    std::size_t failed_ = 0;
    std::size_t warnings_ = 0;
    bool hangs_ = false;
};

}  // namespace

void add_doctor_command(CLI::App& app, action& chosen) {
    const auto request = std::make_shared<doctor_request>();
    auto* command = app.add_subcommand("doctor", "Examine a broker and its queues, and say what to do");
    command->footer(examples);
    command->add_option("URL", request->url, "The broker, in place of --url")->option_text("(optional)");
    add_duration(*command, "--timeout", request->deadline, "How long to wait for each answer (5s)");
    command->add_option("--queue", request->queues, "A queue to look at; may be repeated")
        ->allow_extra_args(false)
        ->option_text("NAME");
    add_duration(*command, "--max-age", request->max_age, "Warn where a message waits longer (5m)");
    add_topology_options(*command, request->flags);
    command->callback(
        [request, &chosen] { chosen = [request](session& with) { return examination(with, *request).run(); }; });
}

}  // namespace shove::cli
