// A worker on RabbitMQ: orders that fail wait in hold queues, and in the end they are dead letters with a reason.
//   18_rabbitmq_worker [URL]     for example amqp://user:password@localhost:5672; else from SHOVE_URL
// While it runs, the broker shows the queues example-orders, example-orders-hold-100ms, … and example-orders-dlq.
#include <shove/rabbitmq.hpp>
#include <shove/shove.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stop_token>
#include <string>

namespace {

using namespace std::chrono_literals;

struct order {
    std::string id;
    double amount = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, amount))

struct orders : shove::topic<order> {
    static constexpr auto topology = shove::topology("example-orders").hold(100ms).hold(500ms).dlq();
};

shove::outcome charge(const order& what, const shove::delivery& info) {
    std::printf("%s: call %u\n", what.id.c_str(), info.attempt());
    if (what.amount < 0) return shove::reject("the amount is negative");  // to the dead letters at once
    if (what.id == "O-3" && info.attempt() < 3) return shove::retry("the bank does not answer");
    return shove::ack;
}

int run(const char* url) {
    shove::broker<shove::rabbitmq> broker{shove::rabbitmq::parse(url).value()};
    broker.declare<orders>();
    const auto publisher = broker.publisher();
    for (const auto& each : {order{"O-1", 10}, order{"O-2", -1}, order{"O-3", 30}})
        publisher.publish<orders>(each);  // returns once the broker has confirmed it

    // A worker that is not an example would run until a signal comes: run_until_signal(30s).
    std::stop_source done;
    std::atomic<int> left = 3;
    const auto finish_one = [&] {
        if (--left == 0) done.request_stop();
    };
    auto group = broker.consumer_group();
    group.add<orders>(
        [&](const order& what, const shove::delivery& info) {
            const auto answer = charge(what, info);
            if (answer == shove::ack) finish_one();
            return answer;
        },
        {.consumers = 2, .prefetch = 20, .max_retries = 5});
    group.add_dead<orders>([&](const shove::dead_letter<order>& letter) {
        const std::string reason(letter.info.last_error());
        std::printf("dead letter %s: %s\n", letter.message ? letter.message->id.c_str() : "?", reason.c_str());
        finish_one();
        return shove::ack;  // the letter is removed
    });
    return group.run_until(done.get_token(), 10s).exit_code();
}

}  // namespace

int main(int argc, char** argv) {
    const char* url = argc > 1 ? argv[1] : std::getenv("SHOVE_URL");
    if (!url) return std::fputs("usage: 18_rabbitmq_worker amqp://user:password@host:5672\n", stderr), 2;
    try {
        return run(url);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
