#include "stage.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace shove::testkit {
namespace {

using raw_batch = batch<std::span<const std::byte>>;
using bodies = std::vector<std::string>;

bodies bodies_of(const raw_batch& all) {
    bodies made;
    for (const auto& each : all)
        made.push_back(text_of(each));
    return made;
}

/// Notes each batch and answers as told, one outcome for each.
struct batch_probe {
    std::function<outcome(const std::string& body, const delivery& info)> answer = [](auto&, auto&) { return ack; };
    recorder<bodies> calls{};

    outcomes operator()(raw_batch& all) const {
        calls.add(bodies_of(all));
        outcomes each;
        for (std::size_t i = 0; i < all.size(); ++i)
            each.push_back(answer(text_of(all[i]), all.info(i)));
        return each;
    }
    bodies flat() const {
        bodies joined;
        for (const auto& each : calls.all())
            joined.insert(joined.end(), each.begin(), each.end());
        return joined;
    }
};

running consume(stage& on, const runtime_topic& topic, const batch_probe& handler, batch_options batch,
                consumer_options how = {}) {
    auto group = on.group();
    group.add_batch(topic, handler, batch, std::move(how));
    return running(std::move(group));
}

void wait_all(const batch_probe& handler, std::size_t n) {
    eventually("every message", [&] { return handler.flat().size() >= n; });
}

void by_number(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(2ms).dlq(); });
    publish_numbered(on, topic, 20);
    const batch_probe handler;
    auto consuming =
        consume(on, topic, handler, {.max_messages = 10, .max_age = patience() * 10}, consumer_options{}.sequential());
    wait_all(handler, 20);
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(handler.flat(), numbered_bodies(20)) << "one batch at a time, in order";
    for (const auto& each : handler.calls.all())
        EXPECT_EQ(each.size(), 10U);
    consuming.stop();
    EXPECT_EQ(consuming.stats(queue_of(topic)).acked, 20U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).calls, 2U);
}

void by_age(stage& on) {
    const auto topic = on.topic();
    const batch_probe handler;
    auto consuming = consume(on, topic, handler, {.max_messages = 1'000, .max_age = 50ms});
    publish_numbered(on, topic, 3);
    wait_all(handler, 3);
    on.wait_empty(queue_of(topic));
}

void by_bytes(stage& on) {
    const auto topic = on.topic();
    publish_numbered(on, topic, 10);
    const auto size = numbered_body(0).size();
    const batch_probe handler;
    auto consuming = consume(on, topic, handler, {.max_age = 10ms, .max_bytes = 2 * size + 1});
    wait_all(handler, 10);
    for (const auto& each : handler.calls.all())
        EXPECT_LE(each.size(), 2U);
}

void own_outcomes(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(2ms).dlq(); });
    publish_numbered(on, topic, 6);
    const batch_probe handler{[](const std::string& body, const delivery& info) {
        if (body == numbered_body(1)) return reject("not this one");
        if (body == numbered_body(3) && info.attempt() <= 2) return retry("not yet");
        return ack;
    }};
    auto consuming = consume(on, topic, handler, {.max_messages = 6, .max_age = 20ms});
    on.wait_ready(dead_queue_of(topic), 1);
    wait_all(handler, 8);
    on.wait_empty(queue_of(topic));
    consuming.stop();
    auto all = handler.flat();
    EXPECT_EQ(std::ranges::count(all, numbered_body(3)), 3);
    EXPECT_EQ(all.size(), 8U);
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.payload, numbered_body(1));
    EXPECT_EQ(letter.death->reason, "rejected");
    EXPECT_EQ(letter.last_error, "not this one");
}

/// G4, which the reference does not keep for batches: each message is called `1 + max_retries` times.
void budget(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(2ms).dlq(); });
    publish_numbered(on, topic, 3);
    const batch_probe handler{
        [](const std::string& body, const delivery&) { return body == numbered_body(1) ? retry("no") : ack; }};
    auto consuming = consume(on, topic, handler, {.max_messages = 3, .max_age = 5ms}, {.max_retries = 2});
    on.wait_ready(dead_queue_of(topic), 1);
    consuming.stop();
    auto all = handler.flat();
    EXPECT_EQ(std::ranges::count(all, numbered_body(1)), 3);
    EXPECT_EQ(on.take_dead(topic, 1).front().death->reason, "max_retries_exceeded");
}

/// The whole batch fails each time; what cannot be decoded is dead at once, and once.
void poison_alone(stage& on) {
    auto topic = on.topic([](auto t) { return t.hold(2ms).dlq(); });
    publish_numbered(on, topic, 4);
    topic.check = [](std::span<const std::byte> body) {
        return text_of(body) == numbered_body(2) ? result<void>(error(errc::decode_failed, "not m2")) : result<void>();
    };
    const recorder<bodies> calls;
    auto group = on.group();
    group.add_batch(topic,
                    [calls](raw_batch& all) -> outcomes {
                        calls.add(bodies_of(all));
                        throw std::runtime_error("no database");
                    },
                    {.max_messages = 4, .max_age = 5ms}, {.max_retries = 1});
    running consuming(std::move(group));
    on.wait_ready(dead_queue_of(topic), 4);
    consuming.stop();
    EXPECT_GE(calls.size(), 2U);
    for (const auto& each : calls.all())
        EXPECT_EQ(std::ranges::count(each, numbered_body(2)), 0);
    std::map<std::string, std::string> reasons;
    for (const auto& letter : on.take_dead(topic, 4))
        reasons[letter.payload] = letter.death->reason;
    EXPECT_EQ(reasons[numbered_body(2)], "deserialize");
    EXPECT_EQ(reasons[numbered_body(0)], "max_retries_exceeded");
}

void flushed_at_stop(stage& on) {
    const auto topic = on.topic();
    publish_numbered(on, topic, 5);
    const batch_probe handler;
    auto consuming = consume(on, topic, handler, {.max_messages = 1'000, .max_age = patience() * 10});
    eventually("all are held", [&] { return consuming.stats(queue_of(topic)).unsettled == 5; });
    EXPECT_EQ(handler.calls.size(), 0U);
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(handler.flat().size(), 5U);
    on.wait_empty(queue_of(topic));
}

/// Several consumers, mixed outcomes: nothing is lost, nothing is handled after its ack.
void ledger_of_many(stage& on) {
    constexpr std::size_t n = 300;
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_numbered(on, topic, n);
    const batch_probe handler{[](const std::string& body, const delivery& info) {
        const auto number = number_in(body);
        if (number % 7 == 0) return reject;
        return number % 5 == 0 && info.attempt() == 1 ? retry : ack;
    }};
    auto consuming = consume(on, topic, handler, {.max_messages = 16, .max_age = 5ms}, {.consumers = 3});
    const std::size_t dead = (n + 6) / 7;
    const auto twice = [](std::size_t i) { return i % 5 == 0 && i % 7 != 0; };
    std::size_t expected = n;
    for (std::size_t i = 0; i < n; ++i)
        expected += twice(i) ? 1 : 0;
    wait_all(handler, expected);
    on.wait_empty(queue_of(topic));
    on.wait_ready(dead_queue_of(topic), dead);
    consuming.stop();
    std::map<std::string, std::size_t> times;
    for (const auto& body : handler.flat())
        ++times[body];
    EXPECT_EQ(times.size(), n);
    for (std::size_t i = 0; i < n; ++i)
        EXPECT_EQ(times[numbered_body(i)], twice(i) ? 2U : 1U) << i;
    const auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.acked, n - dead);
    EXPECT_EQ(stats.dead_lettered, dead);
}

}  // namespace

void add_batch_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"batch", "by_number", &by_number},
                            {"batch", "by_age", &by_age},
                            {"batch", "by_bytes", &by_bytes},
                            {"batch", "own_outcomes", &own_outcomes},
                            {"batch", "budget", &budget},
                            {"batch", "poison_alone", &poison_alone},
                            {"batch", "flushed_at_stop", &flushed_at_stop},
                            {"batch", "ledger_of_many", &ledger_of_many},
                        });
}

}  // namespace shove::testkit
