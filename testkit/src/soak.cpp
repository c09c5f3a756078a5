#include <shove/testkit/soak.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "stage.hpp"

namespace shove::testkit {
namespace {

constexpr std::uint64_t most_waiting = 5'000;
constexpr std::size_t batch_size = 50;

std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    statm >> total >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

bool dies(std::uint64_t number) {
    return number % 101 == 0 || number % 103 == 0;
}

/// What becomes of a message depends on its number alone, so that the counts are known.
outcome answer(std::uint64_t number, const delivery& info) {
    if (number % 101 == 0) return reject("one in 101");
    if (number % 103 == 0) throw std::runtime_error("one in 103, each time");
    if (number % 11 == 0 && info.attempt() == 1) return retry("one in 11, once");
    return ack;
}

/// Messages under way and done; what is under way is bounded by the publisher's waiting.
struct tally {
    std::atomic<std::uint64_t> published{0};
    std::atomic<std::uint64_t> acked{0};
    std::atomic<std::uint64_t> dead{0};

    std::uint64_t waiting() const { return published - acked - dead; }
};

void publish_until(const any_publisher& to, const runtime_topic& topic, steady_time end, tally& counts) {
    std::uint64_t next = 1;
    std::vector<std::string> bodies(batch_size);
    std::vector<any_publisher::raw_outgoing> batch(batch_size);
    while (std::chrono::steady_clock::now() < end) {
        if (counts.waiting() > most_waiting) {
            std::this_thread::sleep_for(1ms);  // real time: a soak has no event for "there is room"
            continue;
        }
        for (std::size_t i = 0; i < batch_size; ++i) {
            bodies[i] = std::to_string(next++);
            batch[i].body = bodies[i];
        }
        counts.published += batch_size;
        if (!to.publish_batch(topic, batch).all_stored()) throw std::runtime_error("a publish of the soak failed");
    }
}

}  // namespace

soak_report run_soak(const backend_factory& factory, std::chrono::seconds duration) {
    stage on(factory);
    const auto topic = on.topic([](auto t) { return t.hold(5ms).dlq(); });
    tally counts;
    auto group = on.group();
    consumer_options how;
    how.max_retries = 2;
    how.consumers = 2;
    group.add(
        topic,
        [&counts](std::span<const std::byte> body, const delivery& info) {
            const auto said = answer(std::stoull(text_of(body)), info);
            if (said.kind() == outcome_kind::ack) ++counts.acked;
            return said;
        },
        how);
    group.add_dead(topic, [&counts](std::span<const std::byte>, const delivery&) {
        ++counts.dead;
        return ack;
    });
    group.start();

    soak_report report;
    const auto begin = std::chrono::steady_clock::now();
    std::jthread watching([&](const std::stop_token& over) {
        while (!over.stop_requested()) {
            std::this_thread::sleep_for(100ms);  // real time: samples of memory
            const auto now = resident_bytes();
            if (std::chrono::steady_clock::now() - begin < duration / 5) {
                report.settled_bytes = std::max(report.settled_bytes, now);
            } else {
                report.highest_bytes = std::max(report.highest_bytes, now);
            }
        }
    });
    publish_until(on.publisher(), topic, begin + duration, counts);
    watching.request_stop();
    watching.join();
    eventually("everything is done", [&] { return counts.waiting() == 0; });
    (void)group.stop(patience());
    report.published = counts.published;
    report.acked = counts.acked;
    report.dead = counts.dead;
    for (std::uint64_t n = 1; n <= report.published; ++n)
        report.expected_dead += dies(n) ? 1 : 0;
    return report;
}

std::chrono::seconds soak_duration() {
    const char* text = std::getenv("SHOVE_SOAK_S");
    return std::chrono::seconds(text ? std::strtoul(text, nullptr, 10) : 300);
}

bool memory_is_ours() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
    return !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
    return true;
#endif
}

}  // namespace shove::testkit
