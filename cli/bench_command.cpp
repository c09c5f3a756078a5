#include "bench_command.hpp"

#include "option_types.hpp"
#include "run.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shove::cli {
namespace {

struct bench_options {
    bench::plan plan;
    bool json = false;
};

constexpr const char* examples =
    "Examples:\n"
    "  shove bench --url memory: --mode consume --messages 1000000 --prefetch 200 --concurrent\n"
    "  shove bench --url memory: --mode consume --messages 1000000 --batch 500\n"
    "  shove bench --url memory: --mode e2e --messages 200000 --rate 20000\n"
    "  shove bench --url memory: --mode sequenced --shards 4 --keys 1000000 --messages 1000000\n"
    "  shove bench --url sqlite:bench.db --mode publish --publishers 32 --messages 20000\n"
    "  shove bench --url 'amqp://localhost?queues=classic' --prefetch 200 --concurrent\n"
    "\n"
    "SQLite is measured in a file of its own beside the one named, which is removed afterwards. On a broker\n"
    "the queues of a run are new, named shove-bench-..., and stay there.\n"
    "Exit code: 0 measured, 1 an error, 3 not everything was handled within --timeout.";

/// An option that takes one of the names of an enum.
template <class E>
void add_named(CLI::App& command, const std::string& name, E& into, const std::map<std::string, E>& names,
               const std::string& help) {
    std::vector<std::string> words;
    words.reserve(names.size());
    for (const auto& [word, value] : names)
        words.push_back(word);
    command
        .add_option_function<std::string>(
            name, [&into, names](const std::string& word) { into = names.at(word); }, help)
        ->check(CLI::IsMember(words));
}

void add_what(CLI::App& command, bench_options& options) {
    auto& plan = options.plan;
    add_named<bench::mode>(
        command, "--mode", plan.mode,
        {{"publish", bench::mode::publish},
         {"consume", bench::mode::consume},
         {"e2e", bench::mode::e2e},
         {"sequenced", bench::mode::sequenced}},
        "consume what was published before (the default); publish; e2e: both at once; sequenced: consume in order "
        "per key, which is checked");
    add_named<bench::work>(command, "--handler", plan.handler,
                           {{"zero", bench::work::zero}, {"fast", bench::work::fast}, {"slow", bench::work::slow}},
                           "zero returns at once (the default); fast waits 1-5 ms, slow 50-300 ms (coroutines)");
    must_be_positive(command.add_option("--messages", plan.messages, "How many messages"))->capture_default_str();
    command.add_option("--payload-bytes", plan.payload_bytes, "Length of the body field")->capture_default_str();
}

void add_how(CLI::App& command, bench_options& options) {
    auto& plan = options.plan;
    must_be_positive(command.add_option("--consumers", plan.consumers, "Consumers of the group"))
        ->capture_default_str();
    must_be_positive(command.add_option("--prefetch", plan.prefetch, "Messages that a consumer holds"))
        ->capture_default_str();
    command.add_flag("--concurrent", plan.concurrent, "Handle up to --prefetch messages at once, not one by one");
    must_be_positive(command.add_option("--batch", plan.per_call, "Handle batches of up to so many messages"));
    must_be_positive(command.add_option("--batch-age-ms", plan.batch_age_ms, "How long a batch may wait to be full"))
        ->capture_default_str();
    must_be_positive(command.add_option("--publishers", plan.publishers, "Publisher threads"))->capture_default_str();
    auto* const async =
        command.add_flag("--async", plan.async, "Publishers are coroutines on one thread, not threads of their own");
    must_be_positive(command.add_option("--pub-batch", plan.pub_batch,
                                        "Messages per publish call (1; 500 where it is not measured)"));
    must_be_positive(
        command.add_option("--rate", plan.rate, "Messages a second, all publishers together; else as fast as they can"))
        ->excludes(async);
    command.add_option("--capacity", plan.capacity, "Messages that an in-process queue holds (all of them)");
    command.add_flag("--metrics", plan.metrics, "Measure with metrics on");
    command.add_option("--threads", plan.threads, "Worker threads (the broker's default)");
    command.add_option("--timeout", plan.timeout_s, "Seconds to wait for the handlers")->capture_default_str();
    command.add_option("--label", plan.label, "Any text, repeated in the JSON line");
}

void add_order(CLI::App& command, bench_options& options) {
    constexpr const char* group = "Of --mode sequenced";
    auto& plan = options.plan;
    command.add_option("--shards", plan.shards, "Shards of the topic, each with one consumer")
        ->check(CLI::Range(1, 65'535))
        ->capture_default_str()
        ->group(group);
    command.add_option("--keys", plan.keys, "Sequence keys that the messages have, in turn")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
        ->capture_default_str()
        ->group(group);
}

/// Refuses what says nothing in the mode chosen.
void check_together(const CLI::App& command, const bench::plan& plan) {
    const auto refuse = [&command](const char* name, const char* why) {
        const auto* option = command.get_option(name);
        if (option->count() > 0) throw CLI::ValidationError(name + (" " + option->results().back()), why);
    };
    if (!plan.per_call) refuse("--batch-age-ms", "belongs to --batch; add that, or leave this out");
    if (plan.handler != bench::work::zero) refuse("--batch", "is measured with --handler zero only");
    if (plan.mode == bench::mode::publish) refuse("--batch", "is about handlers, and --mode publish has none");
    if (plan.mode == bench::mode::sequenced) {
        refuse("--batch", "joins keys, and a sequenced topic keeps them apart; choose another --mode");
        refuse("--consumers", "a sequenced topic has one consumer per shard; say how many with --shards");
    } else {
        for (const auto* name : {"--shards", "--keys"})
            refuse(name, "belongs to --mode sequenced; add that, or leave this out");
    }
}

int measure(const bench_options& options) {
    try {
        const auto found = bench::run(options.plan);
        if (options.json) {
            std::cout << bench::to_json(found) << std::endl;
        } else {
            std::cout << bench::to_table(found) << std::flush;
        }
        return found.complete ? 0 : 3;
    } catch (const std::exception& e) {
        std::cerr << "shove bench: " << e.what() << std::endl;
        return 1;
    }
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<bench_options>();
    options->plan.url = "memory:";
    auto* command = app.add_subcommand("bench", "Measure publishing, consuming or both, in one process");
    command->footer(examples);
    command->add_option("--url", options->plan.url, "Where: memory:, sqlite:FILE or amqp://HOST")
        ->envname("SHOVE_URL")
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print one JSON line");
    add_what(*command, *options);
    add_how(*command, *options);
    add_order(*command, *options);
    command->callback([options, command, &exit_code] {
        check_together(*command, options->plan);
        exit_code = measure(*options);
    });
}

}  // namespace shove::cli
