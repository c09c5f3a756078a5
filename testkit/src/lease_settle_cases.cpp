#include <algorithm>
#include <thread>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

using state = lease_settled::state;

lease_broker with_one(lease_stage& on, lease_options options = {}) {
    auto broker = on.open(std::move(options));
    subscribe(broker);
    publish(broker, "k");
    return broker;
}

void second_ack_is_unknown(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    EXPECT_EQ(broker.acknowledge(got.token).value().what, state::acknowledged);
    EXPECT_EQ(code_of(broker.acknowledge(got.token)), errc::unknown_lease);
    EXPECT_EQ(code_of(broker.acknowledge(lease_token())), errc::unknown_lease) << "never given";
    on.pass(1h);
    EXPECT_TRUE(receive(broker).empty()) << "acknowledged for good";
}

void ack_exactly_at_the_end_is_late(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    EXPECT_EQ(got.lease_ends_at, on.time()->wall() + 30s);
    on.pass(30s);
    EXPECT_EQ(code_of(broker.acknowledge(got.token)), errc::lease_expired);
    EXPECT_EQ(code_of(broker.acknowledge(got.token)), errc::unknown_lease) << "told once";
    const auto again = receive_one(broker);
    EXPECT_EQ(again.attempt, 2U);
    EXPECT_NE(again.token, got.token);
}

void ack_just_before_the_end_counts(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    on.pass(29'999ms);
    EXPECT_TRUE(receive(broker).empty()) << "taken 1 ms before its lease ends";
    EXPECT_TRUE(broker.acknowledge(got.token));
}

void receive_alone_takes_back(lease_stage& on) {
    const auto broker = with_one(on);
    const auto first = receive_one(broker);
    on.pass(30s);
    const auto second = receive_one(broker);
    EXPECT_EQ(second.attempt, 2U);
    for (const auto& how :
         {lease_settlement::acknowledge(first.token), lease_settlement::retry(first.token, 0ms, "x"),
          lease_settlement::dead_letter(first.token, "x"), lease_settlement::extend(first.token, 9s)}) {
        EXPECT_EQ(code_of(broker.settle(how)), errc::unknown_lease) << "the lease is somebody else's now";
    }
    EXPECT_TRUE(broker.acknowledge(second.token)) << "and unharmed";
}

void retry_hides_until_due(lease_stage& on) {
    const auto broker = with_one(on);
    const auto settled = broker.retry(receive_one(broker).token, 15s, "mail.transient").value();
    EXPECT_EQ(settled.what, state::scheduled);
    EXPECT_EQ(settled.at, on.time()->wall() + 15s);
    on.pass(14'999ms);
    EXPECT_TRUE(receive(broker).empty());
    on.pass(1ms);
    EXPECT_EQ(receive_one(broker).attempt, 2U);
}

void retry_at_once(lease_stage& on) {
    const auto broker = with_one(on);
    ASSERT_TRUE(broker.retry(receive_one(broker).token, 0ms, "again"));
    EXPECT_EQ(receive_one(broker).attempt, 2U);
}

void seven_days(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    EXPECT_EQ(code_of(broker.retry(got.token, std::chrono::days(7) + 1ms, "x")), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.retry(got.token, -1ms, "x")), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.retry(got.token, 1s, "Bad Code")), errc::invalid_argument);
    EXPECT_TRUE(broker.retry(got.token, std::chrono::days(7), "x")) << "what was refused did not use up the lease";
    on.pass(std::chrono::days(7) - 1ms);
    EXPECT_TRUE(receive(broker).empty());
    on.pass(1ms);
    EXPECT_EQ(receive(broker).size(), 1U);
}

void retry_beyond_the_limit(lease_stage& on) {
    const auto broker = with_one(on, lease_stage::limited({10, 10, 2, 1024}));
    ASSERT_EQ(broker.retry(receive_one(broker).token, 0ms, "first.code").value().what, state::scheduled);
    const auto last = receive_one(broker);
    EXPECT_EQ(broker.retry(last.token, 0ms, "second.code").value().what, state::dead_lettered);
    EXPECT_EQ(code_of(broker.acknowledge(last.token)), errc::unknown_lease);
    const auto letters = dead(broker);
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0].code, "second.code");
    EXPECT_EQ(letters[0].attempts, 2U);
    EXPECT_EQ(letters[0].consumer, "worker-1");
    EXPECT_EQ(letters[0].dead_at, on.time()->wall());
    EXPECT_TRUE(receive(broker).empty());
}

void ended_lease_at_the_limit(lease_stage& on) {
    const auto broker = with_one(on, lease_stage::limited({10, 10, 1, 1024}));
    receive_one(broker);
    on.pass(30s);
    EXPECT_TRUE(receive(broker).empty());
    const auto letters = dead(broker);
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0].code, "delivery.max_attempts");
}

void late_settlement_at_the_limit(lease_stage& on) {
    const auto broker = with_one(on, lease_stage::limited({10, 10, 1, 1024}));
    const auto got = receive_one(broker);
    on.pass(30s);
    EXPECT_EQ(code_of(broker.retry(got.token, 0ms, "x")), errc::lease_expired);
    ASSERT_EQ(dead(broker).size(), 1U) << "given up in the same step";
}

void extended(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    on.pass(20s);
    const auto answer = broker.extend(got.token, 60s).value();
    EXPECT_EQ(answer.what, state::extended);
    EXPECT_EQ(answer.at, on.time()->wall() + 60s);
    on.pass(59'999ms);
    EXPECT_TRUE(receive(broker).empty());
    EXPECT_TRUE(broker.extend(got.token, 1s)) << "the token goes on; a lease may be made shorter too";
    on.pass(1s);
    EXPECT_EQ(code_of(broker.extend(got.token, 1s)), errc::lease_expired);
    EXPECT_EQ(receive_one(broker).attempt, 2U);
}

void batch_settles_each(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    for (const auto* key : {"1", "2", "3", "4"})
        publish(broker, key);
    const auto got = receive(broker);
    std::vector<lease_settlement> batch{
        lease_settlement::acknowledge(got[0].token),        lease_settlement::retry(got[1].token, 0ms, "again"),
        lease_settlement::dead_letter(got[2].token, "bad"), lease_settlement::extend(got[3].token, 1h),
        lease_settlement::acknowledge(got[0].token),        lease_settlement::retry(got[3].token, 1s, "")};
    const auto answers = broker.settle_batch(batch).value();
    ASSERT_EQ(answers.size(), 6U);
    EXPECT_EQ(answers[0]->what, state::acknowledged);
    EXPECT_EQ(answers[1]->what, state::scheduled);
    EXPECT_EQ(answers[2]->what, state::dead_lettered);
    EXPECT_EQ(answers[3]->what, state::extended);
    EXPECT_EQ(code_of(answers[4]), errc::unknown_lease);
    EXPECT_EQ(code_of(answers[5]), errc::invalid_argument);
    EXPECT_EQ(sequences(receive(broker)), std::vector<std::uint64_t>{2});
}

void lowest_first(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    for (const auto* key : {"1", "2", "3", "4"})
        publish(broker, key);
    const auto first = receive(broker, 2);
    EXPECT_EQ(sequences(first), (std::vector<std::uint64_t>{1, 2}));
    ASSERT_TRUE(broker.retry(first[1].token, 0ms, "again"));
    ASSERT_TRUE(broker.retry(first[0].token, 5s, "later"));
    EXPECT_EQ(sequences(receive(broker, 2)), (std::vector<std::uint64_t>{2, 3})) << "retried before later ones";
    on.pass(5s);
    EXPECT_EQ(sequences(receive(broker, 2)), (std::vector<std::uint64_t>{1, 4}));
}

void two_receives_one_delivery(lease_stage& on) {
    const auto broker = with_one(on);
    std::vector<std::size_t> got(2);
    {
        std::vector<std::jthread> threads;
        for (auto& each : got)
            threads.emplace_back([&] { each = receive(broker).size(); });
    }
    EXPECT_EQ(got[0] + got[1], 1U);
}

void two_acks_one_wins(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    std::vector<error_code> codes(2);
    {
        std::vector<std::jthread> threads;
        for (auto& each : codes)
            threads.emplace_back([&] { each = code_of(broker.acknowledge(got.token)); });
    }
    EXPECT_EQ(std::ranges::count(codes, error_code()), 1);
    EXPECT_EQ(std::ranges::count(codes, make_error_code(errc::unknown_lease)), 1);
}

void token_as_text(lease_stage& on) {
    const auto broker = with_one(on);
    const auto text = receive_one(broker).token.text();
    EXPECT_EQ(text.size(), 36U);
    EXPECT_TRUE(text.starts_with("ack_"));
    EXPECT_TRUE(broker.acknowledge(lease_token::parse(text).value()));
    for (auto bad : {text.substr(1), text + "0", "msg_" + text.substr(4), "ack_" + std::string(32, 'A'), std::string()})
        EXPECT_FALSE(lease_token::parse(bad)) << bad;
}

void a_step_of_the_calendar_ends_no_lease(lease_stage& on) {
    const auto broker = with_one(on);
    const auto got = receive_one(broker);
    on.time()->step_wall(1h);
    EXPECT_TRUE(receive(broker).empty());
    on.time()->step_wall(-2h);
    on.pass(29'999ms);
    EXPECT_TRUE(broker.acknowledge(got.token));
}

void clock_before_1970(lease_stage& on) {
    lease_options options;
    options.clock = std::make_shared<manual_clock>(wall_time(-1us));
    const auto broker = on.open(options);
    EXPECT_EQ(code_of(broker.publish(message_of("k"))), errc::clock_out_of_range);
}

void clock_at_zero(lease_stage& on) {
    lease_options options;
    options.clock = std::make_shared<manual_clock>(wall_time{});
    const auto broker = on.open(options);
    subscribe(broker);
    EXPECT_EQ(publish(broker, "k").published_at, wall_time{});
    EXPECT_EQ(publish(broker, "k").published_at, wall_time{}) << "a replay keeps time 0";
    ASSERT_TRUE(broker.dead_letter(receive_one(broker).token, "x"));
    EXPECT_EQ(dead(broker).at(0).dead_at, wall_time{});
}

}  // namespace

void add_lease_settle_cases(std::vector<lease_case>& into) {
    into.insert(into.end(), {{"settle", "second_ack_is_unknown", second_ack_is_unknown},
                             {"settle", "ack_exactly_at_the_end_is_late", ack_exactly_at_the_end_is_late},
                             {"settle", "ack_just_before_the_end_counts", ack_just_before_the_end_counts},
                             {"settle", "receive_alone_takes_back", receive_alone_takes_back},
                             {"settle", "retry_hides_until_due", retry_hides_until_due},
                             {"settle", "retry_at_once", retry_at_once},
                             {"settle", "seven_days", seven_days},
                             {"settle", "retry_beyond_the_limit", retry_beyond_the_limit},
                             {"settle", "ended_lease_at_the_limit", ended_lease_at_the_limit},
                             {"settle", "late_settlement_at_the_limit", late_settlement_at_the_limit},
                             {"settle", "extended", extended},
                             {"settle", "batch_settles_each", batch_settles_each},
                             {"settle", "lowest_first", lowest_first},
                             {"settle", "two_receives_one_delivery", two_receives_one_delivery},
                             {"settle", "two_acks_one_wins", two_acks_one_wins},
                             {"settle", "token_as_text", token_as_text},
                             {"clock", "a_step_of_the_calendar_ends_no_lease", a_step_of_the_calendar_ends_no_lease},
                             {"clock", "before_1970", clock_before_1970},
                             {"clock", "at_zero", clock_at_zero}});
}

}  // namespace shove::testkit
