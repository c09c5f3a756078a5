#include "job.hpp"

#include "records.hpp"

#include <shove/shove.hpp>
#include <shove/sqlite.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <thread>

namespace main_job {
namespace {

using namespace std::chrono_literals;
using broker = shove::broker<shove::sqlite>;

constexpr std::size_t batch_size = 100;
constexpr auto give_up_after = 90s;
constexpr const char* dead_letters = "strikes-dlq";

void remove_old(const std::filesystem::path& database) {
    for (const char* suffix : {"", "-wal", "-shm", "-owners"})
        std::filesystem::remove(database.native() + suffix);
}

/// Publishes in batches; each message's id is its place in the file, so that a second run of the feed is recognisable.
void publish(const broker& to, std::span<const feed_record> records, timeline& times) {
    const auto publisher = to.publisher();
    std::vector<shove::outgoing<feed>> batch;
    for (std::size_t from = 0; from < records.size(); from += batch_size) {
        batch.clear();
        for (const auto& r : records.subspan(from, std::min(batch_size, records.size() - from))) {
            shove::publish_options options;
            options.id = "strike-" + std::to_string(r.record);
            batch.push_back({r, std::move(options)});
        }
        const auto report = publisher.publish_batch<feed>(batch);
        if (const auto cause = report.first_error()) throw shove::exception(cause);
        times.published(static_cast<std::uint32_t>(batch.size()));
    }
}

double waited_ms(const shove::delivery& info) {
    const auto waited = std::chrono::system_clock::now() - info.published_at();
    return std::chrono::duration<double, std::milli>(waited).count();
}

/// The handler: checks a strike and files it.
struct file_strike {
    strike_register* filed;
    timeline* times;

    shove::outcome operator()(const strike& what, const shove::delivery& info) const {
        const auto waited = waited_ms(info);
        if (auto why = contradiction(what); !why.empty()) {
            times->called(waited, info.attempt(), call_kind::rejected);
            return shove::reject(std::move(why));
        }
        const bool done = filed->file(what, info.attempt());
        times->called(waited, info.attempt(), done ? call_kind::filed : call_kind::turned_away);
        return done ? shove::ack : shove::retry("the register was busy");
    }
};

/// Waits until `ready`, and says every half second how far things are.
void wait_until(const std::function<bool()>& ready, const std::function<void()>& progress) {
    const auto begin = std::chrono::steady_clock::now();
    for (int tick = 0; !ready(); ++tick) {
        if (std::chrono::steady_clock::now() - begin > give_up_after)
            throw std::runtime_error("no end in sight; giving up");
        if (tick % 50 == 49) progress();
        std::this_thread::sleep_for(10ms);
    }
}

void drain(shove::consumer_group<shove::sqlite>& group) {
    const auto ended = group.stop(30s);
    if (!ended.clean())
        throw std::runtime_error("the consumers did not stop cleanly: " +
                                 (ended.failures.empty() ? "" : ended.failures[0]));
}

void work(const broker& on, std::span<const feed_record> records, const file_strike& handler, job_result& into) {
    shove::consumer_options options;
    options.consumers = 2;
    options.prefetch = 100;
    auto group = on.consumer_group();
    group.add<strikes>(handler, options);
    group.start();
    publish(on, records, *handler.times);
    std::printf("published %zu records after %.1f s\n", records.size(), handler.times->now_s());
    const auto settled = [&] {
        const auto seen = group.stats<strikes>();
        return seen.acked + seen.dead_lettered >= records.size();
    };
    const auto progress = [&] {
        const auto seen = group.stats<strikes>();
        std::printf("  %.1f s: %llu filed, %llu retries, %llu dead\n", handler.times->now_s(),
                    static_cast<unsigned long long>(seen.acked), static_cast<unsigned long long>(seen.retried),
                    static_cast<unsigned long long>(seen.dead_lettered));
    };
    wait_until(settled, progress);
    drain(group);
    const auto seen = group.stats<strikes>();
    into.published = records.size();
    into.acked = seen.acked;
    into.retried = seen.retried;
    into.dead = seen.dead_lettered;
    into.seconds = handler.times->now_s();
}

/// What a dead letter's record says, in a few words.
std::string reason_of(const shove::spi::browsed& letter) {
    if (!letter.past) return "unknown";
    return letter.past->death_reason + ": " + letter.past->last_error;
}

void count_dead(const broker& on, job_result& into) {
    std::map<std::string, std::uint64_t> counts;
    on.admin().browse(dead_letters, {}, [&](const shove::spi::browsed& letter) {
        ++counts[reason_of(letter)];
        return true;
    });
    for (const auto& [reason, letters] : counts)
        into.dead_by_reason.push_back({reason, letters});
    std::stable_sort(into.dead_by_reason.begin(), into.dead_by_reason.end(),
                     [](const auto& a, const auto& b) { return a.letters > b.letters; });
}

/// Replays one letter that could not be decoded, to a consumer that knows the mishap classes.
void replay_one(const broker& on, const file_strike& handler, job_result& into) {
    shove::letter_filter first;
    first.reason = "deserialize";
    first.limit = 1;
    into.replayed = on.admin().replay(dead_letters, "", first).done;

    std::mutex guard;
    auto group = on.consumer_group();
    group.add<any_strikes>([&](const any_strike& what, const shove::delivery& info) {
        {
            const std::lock_guard lock(guard);
            into.replayed_id = info.id();
        }
        return handler(to_strike(what), info);
    });
    group.start();
    wait_until([&] { return group.stats<any_strikes>().acked >= into.replayed; }, [] {});
    drain(group);
    into.handled_after_fix = group.stats<any_strikes>().acked;
}

void look_at_queues(const broker& on, job_result& into) {
    const auto main = on.depth("strikes");
    into.left_in_queue = main.ready + main.in_flight + main.delayed;
    into.dead_after_fix = on.depth(dead_letters).ready;
}

}  // namespace

job_result job::run() {
    const auto records = read_records(records_);
    std::printf("%zu records from %s\n", records.size(), records_.c_str());
    remove_old(database_);
    shove::sqlite::config config;
    config.path = database_;
    const broker on(config);
    on.declare<strikes>();

    times_.restart();
    job_result result;
    const file_strike handler{&register_, &times_};
    work(on, records, handler, result);
    count_dead(on, result);
    timeline after_the_fix;
    replay_one(on, {&register_, &after_the_fix}, result);
    look_at_queues(on, result);
    result.filed = register_.filed();
    return result;
}

std::vector<std::string> job_result::mistakes() const {
    std::vector<std::string> found;
    const auto check = [&](bool holds, const char* text) {
        if (!holds) found.emplace_back(text);
    };
    std::uint64_t seen_dead = 0;
    for (const auto& d : dead_by_reason)
        seen_dead += d.letters;
    check(published >= 10'000, "fewer than 10,000 records");
    check(published == acked + dead, "published is not acked + dead");
    check(seen_dead == dead, "the dead-letter queue holds another number of letters");
    check(replayed == 1 && handled_after_fix == 1, "the replayed letter was not handled");
    check(dead_after_fix == dead - replayed, "the replay did not remove its letter");
    check(filed == acked + handled_after_fix, "the register filed another number of strikes");
    check(left_in_queue == 0, "something was left in the queue");
    return found;
}

}  // namespace main_job
