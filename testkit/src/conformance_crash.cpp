#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include "stage.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <set>

namespace shove::testkit {
namespace {

constexpr std::string_view crash_queue = "testkit-crash";

runtime_topic crash_topic() {
    return runtime_topic::make(shove::topology(crash_queue).hold(5ms).dlq()).value();
}

std::string crash_dead_queue() {
    return crash_topic().topology->dead_letter_queue;
}

/// Handles messages, noting each call; `poison` kills the process, `hang` holds it until it is killed.
int handle_until_empty(backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto broker = store.open({});
    auto group = broker.consumer_group();
    group.add(crash_topic(), [book](std::span<const std::byte> body, const delivery& info) {
        const auto text = text_of(body);
        book->note('H', text, std::to_string(info.attempt()));
        if (text == "poison") std::abort();
        if (text.starts_with("hang")) gate().pass(1h);
        book->note('A', text);
        return ack;
    });
    group.start();
    eventually("nothing left", lasting(child_unseen, [&] { return is_empty(broker.depth(crash_queue)); }));
    return group.stop(10s).exit_code();
}

const bool role_known = add_child_role("handle_until_empty", &handle_until_empty);

bool died(int status) {
    return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

void budget(stage& on) {
    const scratch_folder folder("shove-crash");
    const auto file = folder.path() / "ledger";
    const auto topic = crash_topic();
    on.broker().declare(topic);
    std::vector<std::string> bodies;
    auto batch = numbered(bodies, 40);
    batch[7].body = "poison";
    ASSERT_TRUE(on.publisher().publish_batch(topic, batch).all_stored());
    on.reopen();
    const child_arguments told{{"store", on.store().location()}, {"ledger", file.string()}};
    unsigned deaths = 0;
    for (; deaths < 10; ++deaths) {
        child_process child("handle_until_empty", told);
        if (!died(child.wait())) break;
    }
    EXPECT_EQ(deaths, 3U) << "deaths before the message is condemned";
    std::map<std::string, int> begun;
    std::set<std::string> finished;
    for (const auto& line : ledger::read(file)) {
        if (line.kind == 'H') {
            ++begun[line.id];
            EXPECT_EQ(line.fields.at(0), "1") << "a crash is no retry";
        } else {
            finished.insert(line.id);
        }
    }
    EXPECT_EQ(finished.size(), 39U) << "all others are handled";
    EXPECT_EQ(begun["poison"], 3);
    const auto letters = on.take_dead(topic, 1);
    ASSERT_EQ(letters.size(), 1U) << "a bystander was condemned";
    EXPECT_EQ(letters.front().payload, "poison");
    ASSERT_TRUE(letters.front().death);
    EXPECT_EQ(letters.front().death->reason, "crashed");
    EXPECT_EQ(letters.front().death->original_queue, crash_queue);
    EXPECT_EQ(letters.front().crashes, 3U);
    EXPECT_EQ(letters.front().retries, 0U);
    on.wait_empty(crash_queue);
}

void killed_holder_is_noticed(stage& on) {
    const scratch_folder folder("shove-crash");
    const auto file = folder.path() / "ledger";
    const auto topic = crash_topic();
    on.broker().declare(topic);
    for (const auto* body : {"hang1", "hang2", "hang3"})
        on.publisher().publish(topic, body);
    child_process child("handle_until_empty", {{"store", on.store().location()}, {"ledger", file.string()}});
    eventually("the child holds them", [&] { return ledger::read(file).size() == 3; });
    const probe handler;
    auto consuming = on.consume(topic, handler);
    child.kill();
    const auto calls = handler.wait(3, "the messages of a dead process");
    for (const auto& call : calls) {
        EXPECT_TRUE(call.redelivered);
        EXPECT_EQ(call.attempt, 1U) << "a crash is no retry";
        EXPECT_EQ(call.retries, 0U);
    }
    on.wait_empty(crash_queue);
    EXPECT_EQ(on.broker().depth(crash_dead_queue()).ready, 0U);
}

void orderly_stop_is_no_crash(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, a_body);
    for (int round = 0; round < 5; ++round) {
        const gate hold;
        const probe handler([hold](const seen&, const delivery&) {
            hold.arrive();
            return defer;
        });
        auto consuming = on.consume(topic, handler);
        const opens_at_exit opener(hold);
        hold.arrivals().wait(1, "the call");
        EXPECT_EQ(handler.all().front().crashes, 0U);
        hold.open();
        consuming.stop();
        on.reopen();
    }
}

void another_process_consumes(stage& on) {
    const scratch_folder folder("shove-crash");
    const auto file = folder.path() / "ledger";
    const auto topic = crash_topic();
    on.broker().declare(topic);
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 100)).all_stored());
    const child_arguments told{{"store", on.store().location()}, {"ledger", file.string()}};
    child_process one("handle_until_empty", told);
    child_process two("handle_until_empty", told);
    EXPECT_FALSE(died(one.wait()));
    EXPECT_FALSE(died(two.wait()));
    std::map<std::string, int> finished;
    for (const auto& line : ledger::read(file)) {
        if (line.kind == 'A') ++finished[line.id];
    }
    EXPECT_EQ(finished.size(), 100U);
    for (const auto& [body, times] : finished)
        EXPECT_EQ(times, 1) << body;
}

}  // namespace

void add_crash_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(),
              {
                  {"crash", "budget", &budget, {needs_processes, needs_crash_budget}},
                  {"crash", "killed_holder_is_noticed", &killed_holder_is_noticed, {needs_processes, needs_durable}},
                  {"crash", "orderly_stop_is_no_crash", &orderly_stop_is_no_crash, {needs_durable}},
                  {"crash", "another_process_consumes", &another_process_consumes, {needs_processes}},
              });
}

}  // namespace shove::testkit
