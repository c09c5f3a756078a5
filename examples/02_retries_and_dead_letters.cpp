// A handler that fails: the message waits in hold queues, and in the end it is a dead letter with a reason.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct payment {
    std::string id;
    double amount = 0;
};
BOOST_DESCRIBE_STRUCT(payment, (), (id, amount))

// First retry after 50 ms, every later one after 100 ms.
struct payments : shove::topic<payment> {
    static constexpr auto topology = shove::topology("payments").hold(50ms).hold(100ms).dlq();
};

shove::outcome charge(const payment& what, const shove::delivery& info) {
    std::printf("%s: call %u\n", what.id.c_str(), info.attempt());
    if (what.amount < 0) return shove::reject("the amount is negative");  // for good: to the dead letters at once
    if (what.id == "hopeless") return shove::retry("the bank is closed for good");
    if (what.id == "flaky" && info.attempt() < 3) return shove::retry("the bank does not answer");
    return shove::ack;  // an exception would have counted as retry, too
}

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<payments>();
    const auto publisher = broker.publisher();
    publisher.publish<payments>({"good", 10});
    publisher.publish<payments>({"negative", -1});
    publisher.publish<payments>({"flaky", 20});
    publisher.publish<payments>({"hopeless", 30});

    shove::consumer_options options;
    options.max_retries = 3;  // 1 + 3 calls at most
    std::latch dead(2);
    auto group = broker.consumer_group();
    group.add<payments>(charge, options);
    group.add_dead<payments>([&](const shove::dead_letter<payment>& letter) {
        const auto death = letter.info.death();
        std::printf("dead letter %s: %.*s (%.*s)\n", letter.message ? letter.message->id.c_str() : "?",
                    static_cast<int>(death->reason.size()), death->reason.data(),
                    static_cast<int>(letter.info.last_error().size()), letter.info.last_error().data());
        dead.count_down();
        return shove::ack;  // the letter is removed
    });
    group.start();
    dead.wait();
    return group.stop(5s).exit_code();
}
