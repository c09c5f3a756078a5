#include <shove/testkit/soak.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

#include "stage.hpp"

namespace shove::testkit {
namespace {

constexpr std::ptrdiff_t most_waiting = 5'000;
constexpr std::size_t batch_size = 50;
constexpr std::uint64_t batches_per_sample = 100;
constexpr std::int64_t most_growth = std::int64_t{16} << 20;

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

/// Keys come and go: each has twenty messages, and then no more.
std::uint64_t key_of(std::uint64_t number) {
    return number / 20;
}

/// What becomes of a message depends on its number alone, so that the counts are known.
outcome answer(std::uint64_t number, const delivery& info) {
    if (number % 101 == 0) return reject("one in 101");
    if (number % 103 == 0) throw std::runtime_error("one in 103, each time");
    if (number % 11 == 0 && info.attempt() == 1) return retry("one in 11, once");
    return ack;
}

/// What became of the messages. A publisher takes a place for each, which its end gives back.
struct tally {
    std::counting_semaphore<most_waiting> places{most_waiting};
    std::uint64_t published = 0;
    std::uint64_t expected_dead = 0;
    std::atomic<std::uint64_t> acked{0};
    std::atomic<std::uint64_t> dead{0};
    std::int64_t settled_bytes = 0;  ///< Memory of the process in the first fifth of the time.
    std::int64_t highest_bytes = 0;  ///< After that.
    std::atomic<std::uint64_t> misordered{0};
    std::vector<std::atomic<std::uint64_t>> latest = std::vector<std::atomic<std::uint64_t>>(1U << 16U);

    void end(std::atomic<std::uint64_t>& how) {
        ++how;
        places.release();
    }
    /// A call of a sequenced topic's message: none of its key may have been further already. (Far fewer keys than there
    /// are places are under way at once.)
    void note_order(std::uint64_t number) {
        const auto before = latest[key_of(number) % latest.size()].exchange(number);
        if (key_of(before) == key_of(number) && before > number) ++misordered;
    }
};

std::chrono::seconds duration_wanted() {
    const char* text = std::getenv("SHOVE_SOAK_S");
    return std::chrono::seconds(text ? std::strtoul(text, nullptr, 10) : 100);
}

/// False under a sanitizer, whose allocator keeps what was freed.
constexpr bool memory_is_ours() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
    return !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
    return true;
#endif
}

void publish_batch(const any_publisher& to, const runtime_topic& topic, tally& counts) {
    std::vector<std::string> bodies(batch_size);
    std::vector<std::string> keys(batch_size);
    std::vector<any_publisher::raw_outgoing> batch(batch_size);
    for (std::size_t i = 0; i < batch_size; ++i) {
        if (!counts.places.try_acquire_for(patience())) throw std::runtime_error("the soak stands still");
        const auto number = ++counts.published;
        counts.expected_dead += dies(number) ? 1 : 0;
        bodies[i] = std::to_string(number);
        batch[i].body = bodies[i];
        if (!topic.topology->sequencing) continue;
        keys[i] = std::to_string(key_of(number));
        batch[i].options.key = keys[i];
    }
    if (!to.publish_batch(topic, batch).all_stored()) throw std::runtime_error("a publish of the soak failed");
}

void publish_for(std::chrono::seconds duration, const any_publisher& to, const runtime_topic& topic, tally& counts) {
    const auto begin = std::chrono::steady_clock::now();
    auto now = begin;
    for (std::uint64_t n = 0; now < begin + duration; ++n) {
        publish_batch(to, topic, counts);
        now = std::chrono::steady_clock::now();
        if (n % batches_per_sample != 0) continue;
        auto& peak = now < begin + duration / 5 ? counts.settled_bytes : counts.highest_bytes;
        peak = std::max(peak, resident_bytes());
    }
}

outcome handle(tally& counts, std::span<const std::byte> body, const delivery& info, bool ordered) {
    const auto number = std::stoull(text_of(body));
    if (ordered) counts.note_order(number);
    auto said = answer(number, info);
    if (said.kind() == outcome_kind::ack) counts.end(counts.acked);
    return said;
}

void register_soak(any_group& group, const runtime_topic& topic, soak_kind kind, tally& counts) {
    consumer_options how;
    how.max_retries = 2;
    how.consumers = 2;
    if (kind == soak_kind::batches) {
        const auto each_by_itself = [&counts](batch<std::span<const std::byte>>& all) {
            outcomes each;
            for (std::size_t i = 0; i < all.size(); ++i) {
                try {
                    each.push_back(handle(counts, all[i], all.info(i), false));
                } catch (const std::exception& e) {
                    each.push_back(retry(e.what()));
                }
            }
            return each;
        };
        group.add_batch(topic, each_by_itself, {.max_messages = 100, .max_age = 5ms}, how);
        return;
    }
    const bool ordered = kind == soak_kind::sequenced;
    group.add(
        topic,
        [&counts, ordered](std::span<const std::byte> body, const delivery& info) {
            return handle(counts, body, info, ordered);
        },
        how);
}

}  // namespace

void expect_clean_soak(const backend_factory& factory, soak_kind kind) {
    tally counts;  // outlives the broker, and so every handler
    stage on(factory);
    const auto topic = on.topic([kind](auto t) {
        auto shape = t.hold(5ms).dlq();
        return kind == soak_kind::sequenced ? shape.sequenced(sequence_failure::skip).routing_shards(4) : shape;
    });
    auto group = on.group();
    register_soak(group, topic, kind, counts);
    group.add_dead(topic, [&counts](std::span<const std::byte>, const delivery&) {
        counts.end(counts.dead);
        return ack;
    });
    group.start();
    publish_for(duration_wanted(), on.publisher(), topic, counts);
    eventually("everything is done", [&] { return counts.acked + counts.dead >= counts.published; });
    EXPECT_TRUE(group.stop(patience()).clean());
    std::cout << counts.published << " published, " << counts.dead << " dead; memory " << (counts.settled_bytes >> 20)
              << " MiB, then at most " << (counts.highest_bytes >> 20) << " MiB\n";
    EXPECT_EQ(counts.misordered, 0U);
    EXPECT_GT(counts.published, 10'000U) << "too little was going on";
    EXPECT_EQ(counts.dead, counts.expected_dead);
    EXPECT_EQ(counts.acked, counts.published - counts.expected_dead);
    if (memory_is_ours()) {
        EXPECT_GT(counts.highest_bytes, 0) << "no memory was measured";
        EXPECT_LT(counts.highest_bytes, counts.settled_bytes + most_growth);
    }
}

}  // namespace shove::testkit
