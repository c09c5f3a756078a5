#include <shove/shove.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/events.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <unordered_set>
#include <utility>

#include "fault_judge.hpp"
#include "stage.hpp"

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

/// Published and not handled; so the faults find all at work.
constexpr std::size_t most_waiting = 1'000;
constexpr std::size_t largest_batch = 40;
/// A run that gets nowhere ends in the end.
constexpr auto whole_patience = 30min;

runtime_topic fault_topic(bool sequenced) {
    auto spec = shove::topology("faults").hold(5ms).hold(20ms).dlq();
    if (sequenced) spec = spec.sequenced(sequence_failure::skip).routing_shards(fault_shards);
    return runtime_topic::make(spec).value();
}

broker_options quiet() {
    broker_options made;
    made.log = [](log_level, std::string_view) {};
    made.depth_samples = 0ms;
    return made;
}

// --- a worker -----------------------------------------------------------------------------------------

consumer_options worker_options(const child_arguments& told) {
    consumer_options how;
    how.prefetch = std::stoul(told.at("prefetch"));
    how.reorder_window = std::stoul(told.at("reorder_window"));
    how.crash_budget = 1'000'000;  // the faults come from outside: no message is to blame
    return how;
}

detail::raw_function fault_handler(std::shared_ptr<ledger> book, message_fates fates) {
    return [book = std::move(book), fates](std::span<const std::byte>, const delivery& info) {
        const std::string id(info.id());
        book->note(fault_lines::called, id,
                   std::to_string(info.attempt()) + (info.redelivered() ? " redelivered" : " first"));
        const auto number = std::stoull(id);
        until(std::chrono::steady_clock::now() + fates.duration(number));  // real time: so that faults meet a call
        if (info.attempt() < fates.attempts(number)) return retry("as asked");
        return fates.is_rejected(number) ? reject("as asked") : ack;
    };
}

/// A start without a broker is an error: then it is tried again, as whoever supervises processes does.
int work(backend_store& store, const child_arguments& told) {
    const auto topic = fault_topic(told.contains("sequenced"));
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const message_fates fates(std::stoull(told.at("seed")));
    const auto broker = store.open({});
    for (;;) {
        auto group = broker.consumer_group();
        group.add(topic, fault_handler(book, fates), worker_options(told));
        try {
            return group.run_until_signal(patience()).exit_code();
        } catch (const exception& why) {
            if (!is_retryable(why.code())) throw;
        }
    }
}

const bool role_known = add_child_role("fault_worker", &work);

// --- the run ------------------------------------------------------------------------------------------

/// Which messages have been handled, read from the ledger while it grows.
/// @par Thread safety  Safe.
class progress {
public:
    explicit progress(const std::filesystem::path& file) : in_(file) {}

    std::size_t handled() {
        const std::lock_guard lock(mutex_);
        in_.clear();
        for (std::string line; std::getline(in_, line);) {
            if (in_.eof()) {  // a line that is being written
                in_.seekg(-static_cast<std::streamoff>(line.size()), std::ios::cur);
                break;
            }
            if (line.front() == fault_lines::called) ids_.insert(line.substr(2, line.find(' ', 2) - 2));
        }
        return ids_.size();
    }

private:
    std::mutex mutex_;
    std::ifstream in_;
    std::unordered_set<std::string> ids_;
};

class fault_run {
public:
    fault_run(const fault_target& target, const fault_plan& plan)
        : target_(target), plan_(plan), book_(file_), progress_(file_), topic_(fault_topic(plan.sequenced)) {
        report_.seed = plan.seed != 0 ? plan.seed : std::random_device{}();
        std::cout << "faults by seed " << report_.seed << std::endl;
    }

    fault_report run() {
        const auto direct = target_.direct.open(quiet());
        direct.declare(topic_);
        for (std::size_t i = 0; i < plan_.workers; ++i)
            workers_.push_back(start_worker());
        {
            std::jthread publishing([this](const std::stop_token& stop) { publish_all(stop); });
            wait_for_handled(plan_.quiet_messages);
            std::jthread cutting([this] { cut_connections(); });
            std::jthread killing([this] { kill_workers(); });
            const opens_at_exit end(over_);
            kill_brokers();
            confirmed_.wait(plan_.messages, "all to be confirmed", whole_patience);
        }
        finish(direct);
        const auto dead = take_dead(direct);
        if (const char* kept = std::getenv("SHOVE_KEEP_LEDGER"))
            std::filesystem::copy_file(file_, kept, std::filesystem::copy_options::overwrite_existing);
        judge_faults(ledger::read(file_), dead, plan_, report_);
        return std::move(report_);
    }

private:
    using outgoing = shove::publisher<any_backend>::raw_outgoing;

    std::unique_ptr<child_process> start_worker() const {
        child_arguments told{{"store", target_.through.location()},
                             {"ledger", file_.string()},
                             {"seed", std::to_string(report_.seed)},
                             {"prefetch", std::to_string(plan_.prefetch)},
                             {"reorder_window", std::to_string(plan_.reorder_window)}};
        if (plan_.sequenced) told["sequenced"] = "yes";
        return std::make_unique<child_process>("fault_worker", told);
    }

    void wait_for_handled(std::size_t count) {
        eventually(
            "messages to be handled", [&] { return progress_.handled() >= count; }, whole_patience);
    }

    /// Each message once: what was not stored, or perhaps, is not published again.
    void publish_all(const std::stop_token& stop) {
        const auto broker = target_.through.open(quiet());
        const auto publisher = broker.publisher();
        std::mt19937_64 random(report_.seed);
        std::uint64_t number = 0;
        while (confirmed_.value() < plan_.messages && !stop.stop_requested()) {
            eventually(
                "room for more",
                [&] { return confirmed_.value() < progress_.handled() + most_waiting || stop.stop_requested(); },
                whole_patience);
            std::vector<outgoing> batch(1 + random() % largest_batch);
            for (auto& each : batch) {
                each.body = "body";
                each.options.id = std::to_string(++number);
                if (plan_.sequenced) each.options.key = "key-" + std::to_string(message_fates::key(number));
            }
            note_fates(batch, publisher.publish_batch(topic_, batch));
        }
    }

    void note_fates(const std::vector<outgoing>& batch, const batch_report& told) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const auto status = told.each[i].status;
            const auto kind = status == publish_status::ok        ? fault_lines::confirmed
                              : status == publish_status::unknown ? fault_lines::unknown
                                                                  : fault_lines::failed;
            book_.note(kind, batch[i].options.id);
            if (kind == fault_lines::confirmed) confirmed_.add();
        }
    }

    void cut_connections() {
        for (unsigned n = 1; !over_.pass(plan_.cut_every); ++n) {
            const auto name = "cut-" + std::to_string(n);
            book_.note(fault_lines::harm, name, "all");
            if (target_.cut()) book_.note(fault_lines::harmed, name);
        }
    }

    void kill_workers() {
        std::mt19937_64 random(report_.seed + 1);
        for (unsigned n = 1; !over_.pass(plan_.kill_every); ++n) {
            auto& one = workers_[random() % workers_.size()];
            if (!one->alive()) breach("a worker ended by itself; SHOVE_CHILD_OUTPUT=1 shows why");
            const auto name = "worker-" + std::to_string(n);
            book_.note(fault_lines::harm, name, "one");
            one->kill();
            book_.note(fault_lines::harmed, name);
            one = start_worker();
        }
    }

    void kill_brokers() {
        for (unsigned n = 1; n <= plan_.broker_kills; ++n) {
            confirmed_.wait(plan_.messages * n / (plan_.broker_kills + 1), "messages before a kill", whole_patience);
            const auto name = "broker-" + std::to_string(n);
            book_.note(fault_lines::harm, name, "all");
            target_.kill_broker();
            target_.start_broker();
            const auto begin = std::chrono::steady_clock::now();
            const auto confirmed = confirmed_.value();
            const auto handled = progress_.handled();
            eventually(
                "traffic to go on after a kill of the broker",
                [&] { return confirmed_.value() > confirmed && progress_.handled() > handled; }, patience() * 3);
            report_.resumed.push_back(
                std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin));
            book_.note(fault_lines::harmed, name);
        }
    }

    void breach(const std::string& what) {
        const std::lock_guard lock(mutex_);
        report_.breaches.push_back(what);
    }

    /// What a queue holds is known; what others have in hand comes with a delay, if at all. So they end in order when
    /// nothing is to be seen, and if something was left they begin again.
    void finish(const any_broker& direct) {
        constexpr int most_turns = 10;
        for (int turn = 0; turn < most_turns; ++turn) {
            wait_until_empty(direct);
            end_workers();
            const auto left = direct.depth(topic_);
            if (left.ready + left.delayed == 0) return;
            for (auto& one : workers_)
                one = start_worker();
        }
        breach("workers leave something each time they end");
    }

    /// Nothing lies anywhere, and nothing is on a broker's own way from one queue to another.
    void wait_until_empty(const any_broker& direct) const {
        eventually("the rest to be handled", lasting(target_.unseen, [&] { return is_empty(direct.depth(topic_)); }),
                   patience() * 3);
    }

    void end_workers() {
        for (const auto& one : workers_)
            one->ask_to_end();
        for (const auto& one : workers_) {
            const auto status = one->wait();
            const bool early = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;  // it was only just starting
            if (!early && status != 0) breach("a worker did not end in order: status " + std::to_string(status));
        }
    }

    std::vector<std::string> take_dead(const any_broker& direct) const {
        const recorder<std::string> dead;
        const auto count = direct.depth(topic_.topology->dead_letter_queue).ready;
        auto group = direct.consumer_group();
        consumer_options how;
        how.prefetch = 200;
        group.add_dead(
            topic_,
            [dead](std::span<const std::byte>, const delivery& info) {
                const auto death = info.death();
                const auto reason = death ? std::string(death->reason) : "unknown";
                dead.add(std::string(info.id()) + (reason == "rejected" ? "" : " " + reason));
                return ack;
            },
            how);
        group.start();
        (void)dead.wait(count, "the dead letters");
        (void)group.stop(patience());
        return dead.all();
    }

    const fault_target& target_;
    const fault_plan& plan_;
    const scratch_folder folder_{"shove-faults"};
    const std::filesystem::path file_ = folder_.path() / "ledger";
    const ledger book_;
    progress progress_;
    const runtime_topic topic_;
    const gate over_;
    const counter confirmed_;
    std::vector<std::unique_ptr<child_process>> workers_;
    std::mutex mutex_;
    fault_report report_;  ///< Its breaches are guarded.
};

}  // namespace

fault_report run_faults(const fault_target& target, const fault_plan& plan) {
    return fault_run(target, plan).run();
}

}  // namespace shove::testkit
