#include "stage.hpp"

#include <unistd.h>

#include <csignal>
#include <future>
#include <thread>

namespace shove::testkit {
namespace {

void until_token(stage& on) {
    const auto topic = on.topic();
    const probe handler;
    auto group = on.group();
    group.add(topic, handler);
    std::stop_source stop;
    auto ended = std::async(std::launch::async, [&] { return group.run_until(stop.get_token(), patience()); });
    on.publisher().publish(topic, a_body);
    handler.wait(1);
    EXPECT_EQ(ended.wait_for(20ms), std::future_status::timeout) << "it ended before its stop token";
    stop.request_stop();
    EXPECT_TRUE(ended.get().clean());
    on.wait_empty(queue_of(topic));
}

void token_already_stopped(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 50)).all_stored());
    const probe handler;
    std::stop_source stop;
    stop.request_stop();
    auto group = on.group();
    group.add(topic, handler);
    const auto ended = group.run_until(stop.get_token(), patience());
    EXPECT_TRUE(ended.clean());
    const auto acked = group.stats(queue_of(topic)).acked;
    on.expect_counted("nothing was lost or is still held",
                      [&] { return on.broker().depth(queue_of(topic)).ready + acked == 50; });
    EXPECT_EQ(handler.size(), acked);
}

void until_signal(stage& on) {
    const auto topic = on.topic();
    const probe handler;
    auto group = on.group();
    group.add(topic, handler);
    on.publisher().publish(topic, a_body);
    auto ended = std::async(std::launch::async, [&] { return group.run_until_signal(patience()); });
    handler.wait(1);
    EXPECT_EQ(ended.wait_for(20ms), std::future_status::timeout);
    kill(getpid(), SIGTERM);
    EXPECT_EQ(ended.get().exit_code(), 0);
    on.wait_empty(queue_of(topic));
}

void second_signal_cuts_the_drain(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, "SECRET-stuck");
    const gate hold;
    const probe handler([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto group = on.group();
    group.add(topic, handler);
    auto ended = std::async(std::launch::async, [&] { return group.run_until_signal(10min); });
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the call");
    kill(getpid(), SIGINT);
    kill(getpid(), SIGINT);  // to the process and its group, as timeout(1) does: one request
    EXPECT_EQ(ended.wait_for(300ms), std::future_status::timeout) << "one signal drains";
    kill(getpid(), SIGINT);
    ASSERT_EQ(ended.wait_for(patience()), std::future_status::ready) << "the second signal did not end the drain";
    EXPECT_EQ(ended.get().exit_code(), 3);
}

void group_end_leaves_broker(stage& on) {
    const auto topic = on.topic();
    for (int round = 0; round < 3; ++round) {
        on.publisher().publish(topic, "round " + std::to_string(round));
        EXPECT_EQ(on.take(topic, 1).front().payload, "round " + std::to_string(round));
        EXPECT_TRUE(on.broker().ping());
    }
}

void one_of_two_groups_ends(stage& on) {
    const auto one = on.topic();
    const auto two = on.topic();
    const probe first;
    const probe second;
    auto a = on.consume(one, first);
    auto b = on.consume(two, second);
    EXPECT_TRUE(a.stop().clean());
    on.publisher().publish(two, "still consumed");
    second.wait(1, "the other group");
    on.publisher().publish(one, "not consumed");
    EXPECT_EQ(on.broker().depth(queue_of(one)).ready, 1U);
    EXPECT_EQ(first.size(), 0U);
}

void close_is_idempotent(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, a_body);
    EXPECT_TRUE(on.broker().close());
    EXPECT_TRUE(on.broker().close());
    EXPECT_TRUE(on.broker().close(0ms));
}

void close_drains_groups(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, a_body);
    const gate hold;
    const probe handler([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto group = on.group();
    group.add(topic, handler);
    group.start();
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the call");
    auto closing = std::async(std::launch::async, [&] { return static_cast<bool>(on.broker().close(patience())); });
    EXPECT_EQ(closing.wait_for(20ms), std::future_status::timeout) << "it did not wait for the handler";
    hold.open();
    EXPECT_TRUE(closing.get());
    EXPECT_EQ(group.stats(queue_of(topic)).acked, 1U);
}

void start_after_close_refused(stage& on) {
    const auto topic = on.topic();
    auto group = on.group();
    group.add(topic, probe());
    ASSERT_TRUE(on.broker().close());
    try {
        group.start();
        ADD_FAILURE() << "a group of a closed broker started";
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), errc::closed) << e.what();
    }
    EXPECT_THROW(on.broker().declare(topic), exception);
    EXPECT_THROW((void)on.broker().depth(queue_of(topic)), exception);
}

void ping(stage& on) {
    EXPECT_TRUE(on.broker().ping());
    EXPECT_TRUE(on.broker().ping(1s));
    ASSERT_TRUE(on.broker().close());
    const auto from = std::chrono::steady_clock::now();
    const auto refused = on.broker().ping();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::closed) << refused.error().message();
    EXPECT_LT(std::chrono::steady_clock::now() - from, 2s);
}

void destructor_ends_everything(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 500)).all_stored());
    const probe handler;
    {
        auto group = on.group();
        group.add(topic, handler);
        group.start();
        handler.wait(10);
    }
    on.reopen();
    const auto after = handler.size();
    EXPECT_LE(after, 500U);
    until(std::chrono::steady_clock::now() + 20ms);
    EXPECT_EQ(handler.size(), after) << "a handler was called after its broker had gone";
}

void publisher_outlives_broker(stage& on) {
    const auto topic = on.topic();
    const auto publisher = on.publisher();
    on.reopen();
    const auto refused = publisher.try_publish(topic, "SECRET-late");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::closed);
}

}  // namespace

void add_run_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"run", "until_token", &until_token},
                            {"run", "token_already_stopped", &token_already_stopped},
                            {"run", "until_signal", &until_signal},
                            {"run", "second_signal_cuts_the_drain", &second_signal_cuts_the_drain},
                            {"run", "group_end_leaves_broker", &group_end_leaves_broker},
                            {"run", "one_of_two_groups_ends", &one_of_two_groups_ends},
                        });
}

void add_lifetime_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"lifetime", "close_is_idempotent", &close_is_idempotent},
                            {"lifetime", "close_drains_groups", &close_drains_groups},
                            {"lifetime", "start_after_close_refused", &start_after_close_refused},
                            {"lifetime", "ping", &ping},
                            {"lifetime", "destructor_ends_everything", &destructor_ends_everything},
                            {"lifetime", "publisher_outlives_broker", &publisher_outlives_broker},
                        });
}

}  // namespace shove::testkit
