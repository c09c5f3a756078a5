#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include "stage.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

// Broadcasts: each subscriber gets every message published while it is subscribed.

namespace shove::testkit {
namespace {

const requirement broadcasts{"broadcast", &has<&spi::capabilities::broadcast>};

runtime_topic broadcast_topic(stage& on) {
    return on.topic([](auto t) { return t.broadcast(); });
}

running subscribe(stage& on, const runtime_topic& topic, probe handler, consumer_options how = {}) {
    auto group = on.group();
    group.add_broadcast(topic, std::move(handler), {}, std::move(how));
    return running(std::move(group));
}

/// Messages in all queues.
std::uint64_t kept(stage& on) {
    std::uint64_t sum = 0;
    for (const auto& queue : on.broker().admin().queues())
        sum += queue.depth.ready + queue.depth.in_flight + queue.depth.delayed;
    return sum;
}

void each_gets_everything(stage& on) {
    const auto topic = broadcast_topic(on);
    const probe one;
    const probe two;
    const probe three;
    auto first = subscribe(on, topic, one);
    auto second = subscribe(on, topic, two);
    publish_options how;
    how.headers.add("x-tenant", "acme");
    const auto id = on.publisher().publish(topic, "SECRET-first", how).id();
    for (const auto* each : {&one, &two}) {
        const auto call = each->wait(1).front();
        EXPECT_EQ(call.id, id);
        EXPECT_EQ(call.queue, queue_of(topic));
        EXPECT_EQ(call.headers.view().find("x-tenant")->as_text(), "acme");
        EXPECT_EQ(call.attempt, 1U);
        EXPECT_FALSE(call.redelivered);
    }
    auto third = subscribe(on, topic, three);
    publish_numbered(on, topic, 40);
    EXPECT_EQ(payloads(three.wait(40)), numbered_bodies(40)) << "in order, and nothing from before";
    auto all = numbered_bodies(40);
    all.insert(all.begin(), "SECRET-first");
    EXPECT_EQ(payloads(one.wait(41)), all);
    EXPECT_EQ(payloads(two.wait(41)), all);
    for (auto* each : {&first, &second, &third})
        EXPECT_TRUE(each->stop().clean());
    publish_numbered(on, topic, 5);
    EXPECT_EQ(one.size(), 41U);
}

void nobody_listens(stage& on) {
    const auto topic = broadcast_topic(on);
    EXPECT_TRUE(on.publisher().try_publish(topic, "to nobody"));
    publish_numbered(on, topic, 10);
    EXPECT_EQ(on.broker().depth(topic).ready, 0U);
    const probe handler;
    auto listening = subscribe(on, topic, handler);
    on.publisher().publish(topic, "to one");
    EXPECT_EQ(payloads(handler.wait(1)), std::vector<std::string>{"to one"});
    EXPECT_TRUE(listening.stop().clean());
}

void nothing_is_left(stage& on) {
    const auto topic = broadcast_topic(on);
    const auto queues = on.broker().admin().queues().size();
    {
        const gate hold;
        const probe handler([hold](const seen&, const delivery&) {
            hold.arrive();
            return ack;
        });
        auto listening = subscribe(on, topic, handler);
        const opens_at_exit opener(hold);
        publish_numbered(on, topic, 10);
        hold.arrivals().wait(1, "the first call");
        auto stopping = std::async(std::launch::async, [&] { return listening.stop(); });
        hold.open();
        EXPECT_TRUE(stopping.get().clean());
    }
    eventually("the subscription's messages are gone", [&] { return kept(on) == 0; });
    EXPECT_EQ(on.broker().admin().queues().size(), queues);
}

/// What the broker says.
struct warnings {
    recorder<std::string> lines;
    void listen(stage& on) const {
        on.options().log = [lines = lines](log_level, std::string_view text) { lines.add(std::string(text)); };
    }
    bool has(std::string_view a, std::string_view b) const {
        const auto all = lines.all();
        return std::ranges::any_of(
            all, [&](const std::string& line) { return line.find(a) != line.npos && line.find(b) != line.npos; });
    }
};

void failures_are_discarded(stage& on) {
    const warnings said;
    said.listen(on);
    const auto topic = broadcast_topic(on);
    const probe handler([](const seen& call, const delivery&) -> outcome {
        if (call.payload == numbered_body(0)) return reject("no use");
        if (call.payload == numbered_body(1)) return retry("not now");
        if (call.payload == numbered_body(2)) return retry_after(1ms);
        if (call.payload == numbered_body(3)) throw std::runtime_error("it broke");
        return ack;
    });
    const probe other;
    auto listening = subscribe(on, topic, handler, consumer_options{.max_retries = 5});
    auto beside = subscribe(on, topic, other);
    publish_numbered(on, topic, 6);
    EXPECT_EQ(payloads(handler.wait(6)), numbered_bodies(6)) << "one call each";
    EXPECT_EQ(other.wait(6).size(), 6U);
    EXPECT_TRUE(listening.stop().clean());
    const auto stats = listening.stats(queue_of(topic));
    EXPECT_EQ(stats.discarded, 4U);
    EXPECT_EQ(stats.acked, 2U);
    EXPECT_EQ(stats.exceptions, 1U);
    EXPECT_EQ(stats.retried, 0U);
    EXPECT_EQ(handler.size(), 6U);
    EXPECT_TRUE(said.has("rejected", "no use"));
    EXPECT_TRUE(said.has("max_retries_exceeded", "not now"));
    EXPECT_TRUE(said.has("max_retries_exceeded", "it broke"));
    EXPECT_TRUE(said.has("discarded", queue_of(topic)));
}

void a_timeout_is_discarded(stage& on) {
    const warnings said;
    said.listen(on);
    const auto topic = broadcast_topic(on);
    const probe handler([](const seen& call, const delivery& info) {
        if (call.payload != numbered_body(0)) return ack;
        const counter told;
        const std::stop_callback tell(info.stop_token(), [&] { told.add(); });
        told.wait(1, "the stop token");
        throw std::runtime_error("told to stop");
    });
    auto listening = subscribe(on, topic, handler, consumer_options{.handler_timeout = 20ms});
    publish_numbered(on, topic, 2);
    EXPECT_EQ(payloads(handler.wait(2)), numbered_bodies(2));
    EXPECT_TRUE(listening.stop().clean());
    const auto stats = listening.stats(queue_of(topic));
    EXPECT_EQ(stats.timeouts, 1U);
    EXPECT_EQ(stats.discarded, 1U);
    EXPECT_TRUE(said.has("max_retries_exceeded", "timed out"));
}

void defer_keeps_its_place(stage& on) {
    const auto topic = broadcast_topic(on);
    std::atomic<int> left{1};
    const probe handler([&](const seen& call, const delivery&) {
        return call.payload == numbered_body(0) && left-- > 0 ? defer : ack;
    });
    const probe other;
    auto listening = subscribe(on, topic, handler, consumer_options{.prefetch = 50});
    auto beside = subscribe(on, topic, other);
    publish_numbered(on, topic, 3);
    const auto calls = handler.wait(4);
    EXPECT_EQ(payloads(calls),
              (std::vector<std::string>{numbered_body(0), numbered_body(0), numbered_body(1), numbered_body(2)}));
    EXPECT_GE(calls[1].called_at - calls[0].called_at, 990ms) << "it did not wait";
    EXPECT_EQ(calls[0].id, calls[1].id);
    EXPECT_EQ(calls[1].attempt, 1U) << "a defer costs nothing";
    EXPECT_TRUE(calls[1].redelivered);
    const auto beside_it = other.wait(3);
    EXPECT_EQ(payloads(beside_it), numbered_bodies(3)) << "it is deferred for one subscriber only";
    EXPECT_LT(beside_it.back().called_at, calls[1].called_at);
    EXPECT_TRUE(listening.stop().clean());
    EXPECT_EQ(listening.stats(queue_of(topic)).deferred, 1U);
}

void a_stop_cuts_the_wait(stage& on) {
    const auto topic = broadcast_topic(on);
    const probe handler(defer);
    auto listening = subscribe(on, topic, handler);
    publish_numbered(on, topic, 2);
    handler.wait(1);
    eventually("it is deferred", [&] { return listening.stats(queue_of(topic)).deferred == 1; });
    const auto from = std::chrono::steady_clock::now();
    EXPECT_TRUE(listening.stop().clean());
    EXPECT_LT(std::chrono::steady_clock::now() - from, 900ms);
    EXPECT_EQ(handler.size(), 1U);
}

void one_at_a_time(stage& on) {
    const auto topic = broadcast_topic(on);
    std::atomic<int> running_now{0};
    std::atomic<int> most{0};
    const probe handler([&](const seen&, const delivery&) {
        const int now = ++running_now;
        most = std::max(most.load(), now);
        std::this_thread::yield();
        --running_now;
        return ack;
    });
    auto listening = subscribe(on, topic, handler, consumer_options{.consumers = {2, 4}, .prefetch = 50});
    publish_numbered(on, topic, 100);
    EXPECT_EQ(payloads(handler.wait(100)), numbered_bodies(100));
    EXPECT_EQ(most, 1) << "whatever the options say";
    EXPECT_EQ(listening.stats(queue_of(topic)).consumers, 1U);
    EXPECT_TRUE(listening.stop().clean());
}

template <class F>
void expect_refused(errc code, std::string_view named, F&& action) {
    try {
        action();
        ADD_FAILURE() << "accepted; expected a refusal that names '" << named << "'";
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), code) << e.what();
        EXPECT_NE(std::string(e.what()).find(named), std::string::npos) << e.what();
    }
}

void registered_the_wrong_way(stage& on) {
    const auto topic = broadcast_topic(on);
    const auto ordinary = on.topic();
    expect_refused(errc::invalid_argument, "add_broadcast", [&] { on.group().add(topic, probe()); });
    expect_refused(errc::invalid_argument, "add_broadcast", [&] {
        on.group().add_batch(topic, [](batch<std::span<const std::byte>>& all) { return outcomes(all.size(), ack); });
    });
    expect_refused(errc::invalid_argument, "add()", [&] { on.group().add_broadcast(ordinary, probe()); });
    expect_refused(errc::invalid_argument, queue_of(topic),
                   [&] { on.group().add_broadcast(topic, probe()).add_broadcast(topic, probe()); });
}

void where_it_begins(stage& on) {
    const auto topic = broadcast_topic(on);
    const auto begin = [&](broadcast_start from) { on.group().add_broadcast(topic, probe(), {.from = from}); };
    EXPECT_NO_THROW(begin(broadcast_start::tail()));
    expect_refused(errc::invalid_argument, "-5 ms", [&] { begin(broadcast_start::at(wall_time(-5ms))); });
    if (on.factory().capabilities.broadcast_history) return;
    expect_refused(errc::unsupported, queue_of(topic), [&] { begin(broadcast_start::head()); });
    expect_refused(errc::unsupported, "the tail", [&] { begin(broadcast_start::head()); });
    expect_refused(errc::unsupported, "1234 ms", [&] { begin(broadcast_start::at(wall_time(1234ms))); });
}

void delayed_for_all(stage& on) {
    const auto topic = broadcast_topic(on);
    const probe one;
    const probe two;
    auto first = subscribe(on, topic, one);
    auto second = subscribe(on, topic, two);
    const auto from = std::chrono::steady_clock::now();
    on.publisher().publish(topic, "SECRET-later", delayed(200ms));
    on.publisher().publish(topic, "SECRET-now");
    for (const auto* each : {&one, &two}) {
        const auto calls = each->wait(2);
        EXPECT_EQ(payloads(calls), (std::vector<std::string>{"SECRET-now", "SECRET-later"}));
        EXPECT_GE(calls.back().called_at - from, 190ms);
    }
}

void the_slowest_sets_the_pace(stage& on) {
    on.bound(3);
    const auto topic = broadcast_topic(on);
    const gate hold;
    const probe slow([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    const probe quick;
    auto waiting = subscribe(on, topic, slow);
    auto listening = subscribe(on, topic, quick);
    const opens_at_exit opener(hold);
    publish_numbered(on, topic, 3);
    quick.wait(3);
    publish_options how;
    how.when_full = when_full::fail;
    const auto refused = on.publisher().try_publish(topic, "SECRET-fourth", how);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::queue_full) << refused.error().message();
    const counter stored;
    std::jthread publishing([&, publisher = on.publisher()] {
        if (publisher.try_publish(topic, "SECRET-fifth")) stored.add();
    });
    hold.open();
    EXPECT_EQ(payloads(slow.wait(4)),
              (std::vector<std::string>{numbered_body(0), numbered_body(1), numbered_body(2), "SECRET-fifth"}));
    EXPECT_EQ(payloads(quick.wait(4)),
              (std::vector<std::string>{numbered_body(0), numbered_body(1), numbered_body(2), "SECRET-fifth"}));
    publishing.join();
    EXPECT_EQ(stored.value(), 1U);
}

void one_that_leaves_makes_room(stage& on) {
    on.bound(2);
    const auto topic = broadcast_topic(on);
    const gate hold;
    const probe slow([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto waiting = subscribe(on, topic, slow);
    const opens_at_exit opener(hold);
    publish_numbered(on, topic, 2);
    hold.arrivals().wait(1, "the first call");
    const counter stored;
    std::jthread publishing([&, publisher = on.publisher()] {
        std::vector<std::string> texts;
        if (publisher.publish_batch(topic, numbered(texts, 4)).all_stored()) stored.add();
    });
    auto stopping = std::async(std::launch::async, [&] { return waiting.stop(); });
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_TRUE(stored.reached(1)) << "the publisher waits for one that is gone";
}

void between_brokers(stage& on) {
    const auto topic = broadcast_topic(on);
    auto other = on.store().open({});
    const probe here;
    const probe there;
    auto listening = subscribe(on, topic, here);
    auto group = other.consumer_group();
    group.add_broadcast(topic, there);
    running over_there(std::move(group));
    for (std::size_t i = 0; i < 20; ++i)
        (i % 2 ? other : on.broker()).publisher().publish(topic, numbered_body(i));
    EXPECT_EQ(payloads(here.wait(20)), numbered_bodies(20));
    EXPECT_EQ(payloads(there.wait(20)), numbered_bodies(20));
    EXPECT_TRUE(over_there.stop().clean());
    EXPECT_TRUE(listening.stop().clean());
}

// --- other processes -------------------------------------------------------------------------------

runtime_topic told_topic(const child_arguments& told) {
    return runtime_topic::make(shove::topology(told.at("queue")).broadcast()).value();
}

/// Notes that it has subscribed (`S`), then what it hears (`H`), and ends after `count` messages; with `stuck` it
/// never ends its first call.
int hear(backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto broker = store.open({});
    auto group = broker.consumer_group();
    const counter heard;
    const bool stuck = told.contains("stuck");
    group.add_broadcast(told_topic(told), [=](std::span<const std::byte> body, const delivery&) {
        book->note('H', text_of(body));
        heard.add();
        if (stuck) (void)counter().reached(1, 1h);
        return ack;
    });
    group.start();
    book->note('S', "subscribed");
    heard.wait(std::stoul(told.at("count")), "messages");
    return group.stop(10s).exit_code();
}

const bool role_known = add_child_role("hear", &hear);

std::vector<std::string> noted(const std::filesystem::path& file, char kind) {
    std::vector<std::string> found;
    for (const auto& line : ledger::read(file)) {
        if (line.kind == kind) found.push_back(line.id);
    }
    return found;
}

void between_processes(stage& on) {
    const auto topic = broadcast_topic(on);
    const scratch_folder folder("shove-broadcast");
    const auto one = folder.path() / "one";
    const auto two = folder.path() / "two";
    child_arguments told{{"store", on.store().location()}, {"queue", queue_of(topic)}, {"count", "30"}};
    told["ledger"] = one.string();
    child_process first("hear", told);
    told["ledger"] = two.string();
    child_process second("hear", told);
    eventually("both have subscribed", [&] { return noted(one, 'S').size() + noted(two, 'S').size() == 2; });
    publish_numbered(on, topic, 30);
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(noted(one, 'H'), numbered_bodies(30));
    EXPECT_EQ(noted(two, 'H'), numbered_bodies(30));
    eventually("nothing is left", [&] { return kept(on) == 0; });
}

void a_killed_one_leaves_nothing(stage& on) {
    const auto topic = broadcast_topic(on);
    const auto queues = on.broker().admin().queues().size();
    const scratch_folder folder("shove-broadcast");
    const auto file = folder.path() / "ledger";
    child_process other("hear", {{"store", on.store().location()},
                                 {"queue", queue_of(topic)},
                                 {"count", "1000"},
                                 {"stuck", "yes"},
                                 {"ledger", file.string()}});
    eventually("it has subscribed", [&] { return !noted(file, 'S').empty(); });
    publish_numbered(on, topic, 10);
    eventually("it hears", [&] { return !noted(file, 'H').empty(); });
    on.expect_counted("it has all of them", [&] { return kept(on) == 10; });
    other.kill();
    // This process does nothing but publish; it notices all the same.
    eventually("the dead one's messages are gone", [&] {
        on.publisher().publish(topic, "to nobody");
        return kept(on) == 0;
    });
    EXPECT_EQ(on.broker().admin().queues().size(), queues);
    const probe handler;
    auto listening = subscribe(on, topic, handler);
    on.publisher().publish(topic, "to one");
    EXPECT_EQ(payloads(handler.wait(1)), std::vector<std::string>{"to one"});
}

}  // namespace

void add_broadcast_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(),
              {
                  {"broadcast", "each_gets_everything", &each_gets_everything, {broadcasts}},
                  {"broadcast", "nobody_listens", &nobody_listens, {broadcasts}},
                  {"broadcast", "nothing_is_left", &nothing_is_left, {broadcasts, needs_admin}},
                  {"broadcast", "failures_are_discarded", &failures_are_discarded, {broadcasts}},
                  {"broadcast", "a_timeout_is_discarded", &a_timeout_is_discarded, {broadcasts}},
                  {"broadcast", "defer_keeps_its_place", &defer_keeps_its_place, {broadcasts}},
                  {"broadcast", "a_stop_cuts_the_wait", &a_stop_cuts_the_wait, {broadcasts}},
                  {"broadcast", "one_at_a_time", &one_at_a_time, {broadcasts}},
                  {"broadcast", "registered_the_wrong_way", &registered_the_wrong_way, {broadcasts}},
                  {"broadcast", "where_it_begins", &where_it_begins, {broadcasts}},
                  {"broadcast", "delayed_for_all", &delayed_for_all, {broadcasts, needs_delayed_publish}},
                  {"broadcast", "the_slowest_sets_the_pace", &the_slowest_sets_the_pace, {broadcasts, needs_bounded}},
                  {"broadcast", "one_that_leaves_makes_room", &one_that_leaves_makes_room, {broadcasts, needs_bounded}},
                  {"broadcast", "between_brokers", &between_brokers, {broadcasts, needs_processes}},
                  {"broadcast", "between_processes", &between_processes, {broadcasts, needs_processes, needs_admin}},
                  {"broadcast",
                   "a_killed_one_leaves_nothing",
                   &a_killed_one_leaves_nothing,
                   {broadcasts, needs_processes, needs_admin}},
              });
}

}  // namespace shove::testkit
