#include "stage.hpp"

#include <shove/async.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>

namespace shove::testkit {
namespace {

namespace asio = boost::asio;

struct co_topic : shove::topic<std::string, raw> {
    static constexpr auto topology = shove::topology("testkit-coroutine").hold(std::chrono::milliseconds(2)).dlq();
};

std::string co_dead_queue() {
    return std::string(co_topic::topology.queue()) + "-dlq";
}

void publish(stage& on, std::size_t n = 1) {
    on.broker().declare<co_topic>();
    std::vector<std::string> bodies;
    for (std::size_t i = 0; i < n; ++i)
        bodies.push_back(numbered_body(i));
    ASSERT_TRUE(on.publisher().publish_batch<co_topic>(bodies).all_stored());
}

seen take_letter(stage& on) {
    return on.take_dead(runtime_topic::make(co_topic::topology).value(), 1).front();
}

asio::awaitable<void> pause(milliseconds delay) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(delay);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Notes its calls, waits, answers.
struct slow_handler {
    milliseconds delay;
    outcome answer;
    recorder<seen> calls{};

    asio::awaitable<outcome> operator()(std::string, const delivery& info) const {
        calls.add(copy_of(info));
        co_await pause(delay);
        co_return answer;
    }
};

void acks(stage& on) {
    publish(on, 20);
    const slow_handler handler{2ms, ack};
    auto consuming = running(on.group().add<co_topic>(handler));
    handler.calls.wait(20, "calls");
    on.wait_empty(co_topic::topology.queue());
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(handler.calls.size(), 20U);
    EXPECT_EQ(consuming.stats(co_topic::topology.queue()).acked, 20U);
}

struct throwing_handler {
    recorder<seen> calls{};
    asio::awaitable<outcome> operator()(std::string, const delivery& info) const {
        calls.add(copy_of(info));
        co_await pause(1ms);
        throw std::runtime_error("from a coroutine " + std::to_string(info.attempt()));
    }
};

void throws(stage& on) {
    publish(on);
    const throwing_handler handler;
    auto consuming = running(on.group().add<co_topic>(handler, {.max_retries = 2}));
    const auto letter = take_letter(on);
    EXPECT_EQ(handler.calls.size(), 3U);
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_EQ(letter.first_error, "from a coroutine 1");
    EXPECT_EQ(letter.last_error, "from a coroutine 3");
    EXPECT_EQ(consuming.stats(co_topic::topology.queue()).exceptions, 3U);
}

/// Throws before its first suspension.
struct early_thrower {
    counter calls{};
    asio::awaitable<outcome> operator()(std::string) const {
        if (calls.add() == 1) throw std::runtime_error("at once");
        co_return ack;
    }
};

void throws_before_suspending(stage& on) {
    publish(on);
    const early_thrower handler;
    auto consuming = running(on.group().add<co_topic>(handler));
    handler.calls.wait(2, "the second call");
    on.wait_empty(co_topic::topology.queue());
}

void cancelled_at_timeout(stage& on) {
    publish(on);
    const slow_handler handler{1h, ack};
    auto consuming =
        running(on.group().add<co_topic>(handler, {.max_retries = 1, .handler_timeout = 20ms, .timeout_grace = 20s}));
    const auto letter = take_letter(on);
    EXPECT_EQ(handler.calls.size(), 2U);
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_NE(letter.last_error.find("timed out"), std::string::npos) << letter.last_error;
    EXPECT_TRUE(consuming.stop().clean()) << "a cancelled coroutine holds no slot";
    const auto stats = consuming.stats(co_topic::topology.queue());
    EXPECT_EQ(stats.timeouts, 2U);
    EXPECT_EQ(stats.exceptions, 0U) << "the end of a cancelled call is a timeout, no exception";
    EXPECT_EQ(stats.stuck, 0U);
}

/// Answers `ack` when it is cancelled.
struct tidy_handler {
    counter cancelled{};
    asio::awaitable<outcome> operator()(std::string) const {
        bool cut = false;
        try {
            co_await pause(1h);
        } catch (const boost::system::system_error&) {
            cut = true;
        }
        if (cut) cancelled.add();
        co_return ack;
    }
};

void answer_within_grace_counts(stage& on) {
    publish(on);
    const tidy_handler handler;
    auto consuming =
        running(on.group().add<co_topic>(handler, {.max_retries = 0, .handler_timeout = 20ms, .timeout_grace = 20s}));
    handler.cancelled.wait(1, "the cancellation");
    on.wait_empty(co_topic::topology.queue());
    EXPECT_EQ(consuming.stats(co_topic::topology.queue()).acked, 1U);
    EXPECT_EQ(on.broker().depth(co_dead_queue()).ready, 0U);
}

void timeout_as_reject(stage& on) {
    publish(on);
    const slow_handler handler{1h, ack};
    auto consuming = running(
        on.group().add<co_topic>(handler, {.handler_timeout = 20ms, .timeout_outcome = reject, .timeout_grace = 20s}));
    EXPECT_EQ(take_letter(on).death->reason, "rejected");
    EXPECT_EQ(handler.calls.size(), 1U);
}

/// All calls wait for each other without holding a thread.
struct meeting_handler {
    std::size_t n;
    counter there{};
    crowd inside{};
    asio::awaitable<outcome> operator()(std::string) const {
        const auto in = inside.enter();
        there.add();
        const auto deadline = std::chrono::steady_clock::now() + patience();
        while (there.value() < n && std::chrono::steady_clock::now() < deadline)
            co_await pause(1ms);
        co_return ack;
    }
};

void all_of_prefetch_at_once(stage& on) {
    publish(on, 150);
    const meeting_handler handler{100};
    auto consuming = running(on.group().add<co_topic>(handler, {.prefetch = 100}));
    on.wait_empty(co_topic::topology.queue());
    EXPECT_EQ(handler.inside.most(), 100U) << "no more than prefetch, and that many, on few threads";
}

void sequential(stage& on) {
    publish(on, 20);
    struct ordered {
        crowd inside{};
        recorder<std::string> bodies{};
        asio::awaitable<outcome> operator()(std::string body) const {
            const auto in = inside.enter();
            co_await pause(1ms);
            bodies.add(body);
            co_return ack;
        }
    };
    const ordered handler;
    auto consuming = running(on.group().add<co_topic>(handler, consumer_options{}.sequential()));
    const auto bodies = handler.bodies.wait(20, "calls");
    EXPECT_EQ(handler.inside.most(), 1U);
    for (std::size_t i = 0; i < 20; ++i)
        EXPECT_EQ(bodies[i], numbered_body(i));
}

void drained(stage& on) {
    publish(on, 5);
    const slow_handler handler{30ms, ack};
    auto consuming = running(on.group().add<co_topic>(handler));
    handler.calls.wait(5, "calls");
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(consuming.stats(co_topic::topology.queue()).acked, 5U) << "a drain waits for coroutines";
    on.wait_empty(co_topic::topology.queue());
}

struct dead_handler {
    recorder<std::string> reasons{};
    asio::awaitable<outcome> operator()(const dead_letter<std::string>& letter) const {
        const std::string reason(letter.info.death() ? letter.info.death()->reason : "");
        co_await pause(1ms);
        reasons.add(reason);
        co_return ack;
    }
};

void dead_letters(stage& on) {
    publish(on);
    const dead_handler burying;
    auto consuming = running(on.group().add<co_topic>(slow_handler{1ms, reject}).add_dead<co_topic>(burying));
    EXPECT_EQ(burying.reasons.wait(1, "the letter").front(), "rejected");
    on.wait_empty(co_dead_queue());
}

}  // namespace

void add_coroutine_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"coroutine", "acks", &acks},
                            {"coroutine", "throws", &throws},
                            {"coroutine", "throws_before_suspending", &throws_before_suspending},
                            {"coroutine", "cancelled_at_timeout", &cancelled_at_timeout},
                            {"coroutine", "answer_within_grace_counts", &answer_within_grace_counts},
                            {"coroutine", "timeout_as_reject", &timeout_as_reject},
                            {"coroutine", "all_of_prefetch_at_once", &all_of_prefetch_at_once},
                            {"coroutine", "sequential", &sequential},
                            {"coroutine", "drained", &drained},
                            {"coroutine", "dead_letters", &dead_letters},
                        });
}

}  // namespace shove::testkit
