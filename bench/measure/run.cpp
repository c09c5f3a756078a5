#include "run.hpp"

#include "board.hpp"
#include "process.hpp"
#include "publishing.hpp"
#include "readers.hpp"
#include "target.hpp"
#include "topics.hpp"

#include <shove/metrics.hpp>
#include <shove/open.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace shove::bench {
namespace {

using namespace std::chrono_literals;

double rounded(double value, int digits) {
    const auto scale = std::pow(10.0, digits);
    return std::round(value * scale) / scale;
}

double seconds(std::uint64_t from_ns, std::uint64_t to_ns) {
    return static_cast<double>(to_ns - from_ns) / 1e9;
}

unsigned threads_of(const plan& what) {
    return what.threads > 0 ? what.threads : std::max(4U, 2 * std::thread::hardware_concurrency());
}

/// One run, step by step; the report fills up on the way.
class measurement {
public:
    measurement(const plan& what, const target& where)
        : plan_(what),
          target_(where),
          broker_(open(target_.url(), options_of(what))),
          board_(what.mode == mode::publish ? 0 : what.messages,
                 what.mode == mode::sequenced ? places_of_keys(what) : std::vector<std::uint64_t>()),
          readers_(broker_, what, board_) {}

    report take() {
        with_topic(plan_, [this](auto topic) { broker_.declare<decltype(topic)>(); });
        describe();
        prepare();
        measure();
        finish();
        return std::move(report_);
    }

private:
    static broker_options options_of(const plan& what) {
        broker_options options;
        options.worker_threads = what.threads;
        if (what.metrics) options.metrics = std::make_shared<shove::metrics>();
        return options;
    }
    void describe();
    void prepare();
    void measure();
    void await_handlers();
    void note_latencies();
    void note_cpu(const cpu_time& from, const cpu_time& to, std::uint64_t messages);
    void finish();

    const plan& plan_;
    const target& target_;
    any_broker broker_;
    board board_;
    readers readers_;
    report report_;
    bool ended_ = true;
};

void measurement::describe() {
    constexpr std::string_view modes[] = {"publish", "consume", "e2e", "sequenced"};
    constexpr std::string_view handlers[] = {"zero", "fast", "slow"};
    report_.impl = "shove-cpp-" + std::string(SHOVE_VERSION);
    report_.backend = broker_.capabilities().backend;
    report_.mode = modes[static_cast<std::size_t>(plan_.mode)];
    report_.label = plan_.label;
    report_.messages = plan_.messages;
    report_.payload_bytes = plan_.payload_bytes;
    report_.consumers = plan_.consumers;
    report_.prefetch = plan_.prefetch;
    if (plan_.mode != mode::publish) report_.effective_prefetch = plan_.concurrent || plan_.per_call ? plan_.held() : 1;
    report_.concurrent = plan_.concurrent;
    report_.batch = plan_.per_call;
    report_.handler = handlers[static_cast<std::size_t>(plan_.handler)];
    report_.pub_batch = plan_.batch();
    report_.publishers = plan_.publishers;
    if (plan_.mode == mode::sequenced) {
        report_.keys = plan_.keys;
        report_.shards = plan_.shards;
    }
    report_.live = plan_.mode == mode::e2e;
    report_.rate = plan_.rate;
    if (target_.private_to_process()) report_.capacity = plan_.room();
    report_.worker_threads = threads_of(plan_);
}

/// What is not measured: the corpus to consume, or the proof that the consumers are there.
void measurement::prepare() {
    if (!plan_.publishing_is_measured()) {
        auto unpaced = plan_;
        unpaced.rate.reset();
        const auto from = now_ns();
        publish_corpus(broker_, unpaced);
        report_.fill_s = rounded(seconds(from, now_ns()), 4);
    } else if (plan_.mode == mode::e2e) {
        readers_.start();
        publish_probe(broker_);
        if (!board_.probed().wait_for(30s)) throw std::runtime_error("the probe was not handled within 30 s");
        std::this_thread::sleep_for(300ms);
    }
}

void measurement::measure() {
    const auto cpu_before = process_cpu();
    const auto machine_before = machine_cpu();
    const auto from = now_ns();
    if (plan_.publishing_is_measured()) {
        publish_corpus(broker_, plan_);
        report_.publish_s = rounded(seconds(from, now_ns()), 6);
    } else {
        readers_.start();
    }
    if (plan_.mode != mode::publish) await_handlers();
    const auto last = board_.finished_at();
    const auto to = last > 0 ? last : now_ns();
    const auto cpu_after = process_cpu();
    const auto busy = share_between(machine_before, machine_cpu());
    report_.rss_peak_kib = rss_peak_kib();

    const auto counted = plan_.mode == mode::publish ? plan_.messages : board_.handled();
    report_.elapsed_s = rounded(seconds(from, to), 6);
    report_.msgs_per_s = std::round(static_cast<double>(counted) / seconds(from, to));
    report_.machine_busy_pct = rounded(busy.busy_pct, 1);
    report_.machine_steal_pct = rounded(busy.steal_pct, 1);
    report_.load1 = load_average();
    note_cpu(cpu_before, cpu_after, counted);
}

void measurement::await_handlers() {
    ended_ = board_.finished().wait_for(std::chrono::seconds(plan_.timeout_s)) && board_.handled() >= plan_.messages;
}

void measurement::note_cpu(const cpu_time& from, const cpu_time& to, std::uint64_t messages) {
    const auto user = to.user - from.user;
    const auto system = to.system - from.system;
    report_.cpu_s = rounded(user + system, 4);
    report_.cpu_user_s = rounded(user, 4);
    report_.cpu_sys_s = rounded(system, 4);
    const auto each = static_cast<double>(std::max<std::uint64_t>(messages, 1));
    report_.cpu_us_per_msg = rounded((user + system) * 1e6 / each, 3);
}

void measurement::note_latencies() {
    const auto all = board_.latencies();
    if (all.empty()) return;
    const auto at = [&](double quantile) {
        const auto rank = static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(all.size())));
        return rounded(static_cast<double>(all[std::clamp<std::size_t>(rank, 1, all.size()) - 1]) / 1e3, 1);
    };
    report_.p50_us = at(0.50);
    report_.p95_us = at(0.95);
    report_.p99_us = at(0.99);
    report_.p999_us = at(0.999);
    report_.max_us = at(1.0);
}

void measurement::finish() {
    report_.errors = readers_.stop();
    report_.handled = board_.handled();
    report_.handler_calls = board_.calls();
    report_.duplicates = board_.duplicates();
    if (plan_.mode == mode::sequenced) {
        report_.misordered = board_.misordered();
        if (*report_.misordered > 0) report_.errors.emplace_back("messages of a key were handled out of order");
    }
    report_.complete = ended_ && report_.errors.empty();
    if (const auto rate = board_.steady_rate(); rate > 0) report_.steady_msgs_per_s = std::round(rate);
    note_latencies();
}

}  // namespace

report run(const plan& what) {
    const target where(what);
    shape_topics(what, where.queue());
    return measurement(what, where).take();
}

}  // namespace shove::bench
