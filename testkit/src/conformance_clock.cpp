#include <shove/testkit/manual_clock.hpp>

#include "stage.hpp"

namespace shove::testkit {
namespace {

const requirement needs_injected_clock{"injected clock", [](const backend_factory& f) { return f.injected_clock; }};

std::shared_ptr<manual_clock> still_clock(stage& on) {
    auto made = std::make_shared<manual_clock>();
    on.options().clock = made;
    return made;
}

void wait_delayed(stage& on, const runtime_topic& topic) {
    eventually("it waits", [&] { return on.broker().depth(queue_of(topic)).delayed == 1; });
}

/// G3: a message that always asks for a retry is called once per hold, no more: six times in five seconds.
void hopeless_message_is_bounded(stage& on) {
    const auto clock = still_clock(on);
    const auto topic = on.topic([](auto t) { return t.hold(1s); });
    const probe handler(retry);
    auto consuming = on.consume(topic, handler, consumer_options{.handler_timeout = std::nullopt});
    on.publisher().publish(topic, "SECRET-hopeless");
    for (std::size_t second = 1; second <= 5; ++second) {
        handler.wait(second);
        wait_delayed(on, topic);
        clock->advance(999ms);
        EXPECT_EQ(handler.size(), second) << "called early";
        clock->advance(1ms);
    }
    handler.wait(6);
    wait_delayed(on, topic);
    EXPECT_EQ(handler.size(), 6U);
}

void long_delays_pass(stage& on) {
    const auto clock = still_clock(on);
    const auto topic = on.topic([](auto t) { return t.hold(6h).dlq(); });
    const auto began = clock->wall();
    on.publisher().publish(topic, a_body, delayed(24h));
    const probe handler([](const seen& call, const delivery&) { return call.attempt == 1 ? retry : reject; });
    auto consuming = on.consume(topic, handler, consumer_options{.handler_timeout = std::nullopt});
    EXPECT_EQ(on.broker().depth(queue_of(topic)).delayed, 1U);
    clock->advance(24h);
    EXPECT_GE(handler.wait(1).front().age, 24h);
    wait_delayed(on, topic);
    clock->advance(6h);
    handler.wait(2);
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.published_at, began);
    EXPECT_EQ(letter.first_failed_at, began + 24h);
    EXPECT_EQ(letter.death->at, began + 30h);
}

}  // namespace

void add_clock_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(),
              {
                  {"clock", "hopeless_message_is_bounded", &hopeless_message_is_bounded, {needs_injected_clock}},
                  {"clock", "long_delays_pass", &long_delays_pass, {needs_injected_clock, needs_delayed_publish}},
              });
}

}  // namespace shove::testkit
