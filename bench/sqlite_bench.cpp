// SQLite beside rullst-messaging: the same cases as bench/peers/rullst-bench/src/cases.rs, over the typed API, with the
// default durability (synchronous FULL) and payloads of 100 bytes.
//
//   shove-bench-sqlite CASE MESSAGES FOLDER [RETAINED=0]      prints one JSON line
//
// publish-1   one thread, waits for each message        cycle-…  the same with a consumer attached, until every
// publish-32  32 threads, each waits for its message             message is handled and its ack is on the disk
// publish-100 one thread, batches of 100
#include "process.hpp"

#include <shove/shove.hpp>
#include <shove/sqlite.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct events : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("bench").hold(1s).dlq();
};
/// Holds the messages that are only there to make the file large.
struct retained : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("retained").hold(1s).dlq();
};

using sqlite_broker = shove::broker<shove::sqlite>;

struct bench_case {
    std::string name;
    std::size_t messages = 0;
    std::size_t threads = 1;
    std::size_t batch = 1;
    bool cycle = false;
};

bench_case parse(const std::string& name, std::size_t messages) {
    bench_case made{.name = name, .messages = messages};
    made.cycle = name.starts_with("cycle-");
    if (name.ends_with("-32")) made.threads = 32;
    if (name.ends_with("-100")) made.batch = 100;
    if (!made.cycle && !name.starts_with("publish-")) throw std::runtime_error("unknown case " + name);
    return made;
}

template <class Topic>
void publish_batches(const sqlite_broker& broker, std::size_t messages, std::size_t size) {
    const std::vector<std::string> bodies(size, std::string(100, 'a'));
    for (std::size_t sent = 0; sent < messages; sent += size) {
        const auto report = broker.publisher().publish_batch<Topic>(bodies);
        if (const auto cause = report.first_error()) throw shove::exception(cause);
    }
}

void publish_from_threads(const sqlite_broker& broker, const bench_case& what) {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < what.threads; ++t) {
        threads.emplace_back([&, t] {
            const std::string body(100, 'a');
            const auto publisher = broker.publisher();
            for (auto i = t; i < what.messages; i += what.threads)
                publisher.publish<events>(body);
        });
    }
}

void publish(const sqlite_broker& broker, const bench_case& what) {
    if (what.batch > 1) {
        publish_batches<events>(broker, what.messages, what.batch);
    } else {
        publish_from_threads(broker, what);
    }
}

/// Publishes with a consumer attached and drains it: then every ack is stored.
void cycle(const sqlite_broker& broker, const bench_case& what) {
    std::atomic<std::size_t> handled{0};
    shove::consumer_options options;
    options.prefetch = 200;
    auto group = broker.consumer_group();
    group.add<events>(
        [&](const std::string&) {
            if (handled.fetch_add(1) + 1 == what.messages) handled.notify_all();
            return shove::ack;
        },
        options);
    group.start();
    publish(broker, what);
    for (auto seen = handled.load(); seen < what.messages; seen = handled.load())
        handled.wait(seen);
    if (!group.stop(30s).clean()) throw std::runtime_error("the consumer did not stop cleanly");
}

void remove_file(const std::filesystem::path& file) {
    for (const char* suffix : {"", "-wal", "-shm", "-owners"})
        std::filesystem::remove(file.native() + suffix);
}

double measure(const std::filesystem::path& file, const bench_case& what, std::size_t retained_messages) {
    const sqlite_broker broker{{.path = file}};
    broker.declare<events, retained>();
    if (retained_messages > 0) publish_batches<retained>(broker, retained_messages, 1000);
    const auto from = shove::bench::now_ns();
    what.cycle ? cycle(broker, what) : publish(broker, what);
    return static_cast<double>(shove::bench::now_ns() - from) / 1e9;
}

int run(const bench_case& what, const std::filesystem::path& folder, std::size_t retained_messages) {
    const auto file = folder / ("shove-" + std::to_string(shove::bench::now_ns()) + ".db");
    const auto cpu_before = shove::bench::process_cpu();
    const auto elapsed = measure(file, what, retained_messages);
    const auto cpu = shove::bench::process_cpu();
    remove_file(file);
    const auto count = static_cast<double>(what.messages);
    std::printf(
        "{\"impl\":\"shove-cpp\",\"case\":\"%s\",\"messages\":%zu,\"retained\":%zu,\"elapsed_s\":%.6f,\"msgs_per_s\":%."
        "1f,"
        "\"cpu_us_per_msg\":%.1f}\n",
        what.name.c_str(), what.messages, retained_messages, elapsed, count / elapsed,
        (cpu.user + cpu.system - cpu_before.user - cpu_before.system) * 1e6 / count);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: shove-bench-sqlite CASE MESSAGES FOLDER [RETAINED]\n");
        return EXIT_FAILURE;
    }
    try {
        const auto messages = static_cast<std::size_t>(std::atoll(argv[2]));
        return run(parse(argv[1], messages), argv[3], argc > 4 ? static_cast<std::size_t>(std::atoll(argv[4])) : 0);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "shove-bench-sqlite: %s\n", e.what());
        return EXIT_FAILURE;
    }
}
