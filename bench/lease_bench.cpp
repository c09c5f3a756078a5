// Leases beside rullst-messaging: the same cases as bench/peers/rullst-bench/src/cases.rs, payloads of 100 bytes, one
// group, synchronous FULL.
//
//   shove-bench-leases CASE MESSAGES FOLDER [STORE=sqlite] [RETAINED=0] [THREADS]     prints one JSON line
//
// STORE: sqlite, sealed, memory. RETAINED messages are there before, of a topic of their own.
// publish-1   one thread, waits for each message        cycle-1    publish, receive, acknowledge, one after the other
// publish-32  32 threads (or THREADS), each waits        cycle-32   32 threads publish, one receives 100 and
// acknowledges publish-100 one thread, batches of 100                 cycle-100  100 published, received and
// acknowledged in batches
#include "process.hpp"

#include <shove/inprocess_leases.hpp>
#include <shove/lease.hpp>
#include <shove/sqlite_leases.hpp>

#include <array>
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

shove::lease_message message(const std::string& topic, std::size_t i) {
    return {.topic = topic,
            .event_kind = "bench.event",
            .idempotency_key = "key-" + std::to_string(i),
            .payload = std::string(100, 'a')};
}

void publish_range(const shove::lease_broker& broker, const std::string& topic, std::size_t from, std::size_t to) {
    std::vector<shove::lease_message> batch;
    for (auto i = from; i < to; ++i)
        batch.push_back(message(topic, i));
    for (const auto& each : broker.publish_batch(std::move(batch)).value())
        (void)each.value();
}

/// Receives and acknowledges until so many messages are done.
void drain(const shove::lease_broker& broker, std::size_t count, std::size_t max) {
    while (count > 0) {
        const auto got =
            broker.receive({.topic = "bench", .group = "g", .consumer = "c", .max = max, .lease = 60s, .wait = 5s})
                .value();
        std::vector<shove::lease_settlement> done;
        for (const auto& each : got)
            done.push_back(shove::lease_settlement::acknowledge(each.token));
        if (done.empty()) throw std::runtime_error("nothing came within 5 s");
        count -= done.size();
        for (const auto& each : broker.settle_batch(std::move(done)).value())
            (void)each.value();
    }
}

std::vector<std::jthread> publishers(const shove::lease_broker& broker, const bench_case& what) {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < what.threads; ++t) {
        threads.emplace_back([&broker, &what, t] {
            for (auto i = t; i < what.messages; i += what.threads)
                (void)broker.publish(message("bench", i)).value();
        });
    }
    return threads;
}

void work(const shove::lease_broker& broker, const bench_case& what) {
    if (what.batch > 1) {
        for (std::size_t from = 0; from < what.messages; from += what.batch) {
            publish_range(broker, "bench", from, from + what.batch);
            if (what.cycle) drain(broker, what.batch, what.batch);
        }
    } else if (what.cycle && what.threads == 1) {
        for (std::size_t i = 0; i < what.messages; ++i) {
            (void)broker.publish(message("bench", i)).value();
            drain(broker, 1, 1);
        }
    } else {
        const auto threads = publishers(broker, what);
        if (what.cycle) drain(broker, what.messages, 100);
    }
}

shove::keyring bench_keys() {
    std::array<std::byte, 32> secret{};
    secret.fill(std::byte{7});
    return shove::keyring::make({shove::storage_key::make("bench-key", secret).value()}).value();
}

shove::lease_broker open(const std::string& store, const std::filesystem::path& file) {
    shove::lease_options options;
    options.limits.retained_messages = 10'000'000;
    if (store == "memory") return shove::open_inprocess_leases(options).value();
    shove::sqlite_lease_config there;
    there.path = file;
    if (store == "sealed") there.keys = bench_keys();
    return shove::open_sqlite_leases(there, options).value();
}

void remove_store(const std::filesystem::path& file) {
    for (const auto* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(file.string() + suffix);
}

int run(int argc, char** argv) {
    const auto file = std::filesystem::path(argv[3]) / ("shove-bench-leases-" + std::to_string(::getpid()) + ".db");
    const std::string store = argc > 4 ? argv[4] : "sqlite";
    const auto retained = static_cast<std::size_t>(argc > 5 ? std::atoll(argv[5]) : 0);
    auto what = parse(argv[1], static_cast<std::size_t>(std::atoll(argv[2])));
    if (argc > 6) what.threads = static_cast<std::size_t>(std::atoll(argv[6]));
    remove_store(file);
    const auto broker = open(store, file);
    (void)broker.subscribe("bench", "g", shove::lease_start::kind::earliest).value();
    for (std::size_t from = 0; from < retained; from += 1'000)
        publish_range(broker, "retained", from, std::min(from + 1'000, retained));

    const auto before = shove::bench::process_cpu();
    const auto from = std::chrono::steady_clock::now();
    work(broker, what);
    const auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    const auto used = shove::bench::process_cpu();
    const auto cpu = used.user + used.system - before.user - before.system;
    broker.close();
    remove_store(file);
    const auto messages = static_cast<double>(what.messages);
    std::printf(
        "{\"impl\":\"shove\",\"case\":\"%s\",\"store\":\"%s\",\"messages\":%zu,\"retained\":%zu,\"threads\":%zu,"
        "\"elapsed_s\":%.6f,\"msgs_per_s\":%.1f,\"cpu_us_per_msg\":%.3f,\"rss_peak_kib\":%llu}\n",
        what.name.c_str(), store.c_str(), what.messages, retained, what.threads, elapsed, messages / elapsed,
        cpu * 1e6 / messages, static_cast<unsigned long long>(shove::bench::rss_peak_kib()));
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s CASE MESSAGES FOLDER [sqlite|sealed|memory] [RETAINED] [THREADS]\n", argv[0]);
        return EXIT_FAILURE;
    }
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return EXIT_FAILURE;
    }
}
