// Order per customer on RabbitMQ: while one customer's event waits for its retry, that customer waits, and nobody else.
//   19_rabbitmq_sequenced [URL]     for example amqp://user:password@localhost:5672; else from SHOVE_URL
// The broker needs its plugin: rabbitmq-plugins enable rabbitmq_consistent_hash_exchange
// A shard is read by one process at a time; another one takes over when that ends or dies.
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

struct change {
    std::string customer;
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(change, (), (customer, number))

struct changes : shove::topic<change> {
    static constexpr auto sequence_key = &change::customer;
    static constexpr auto topology =
        shove::topology("example-changes").hold(200ms).dlq().sequenced(shove::sequence_failure::skip).routing_shards(2);
};

int run(const char* url) {
    shove::broker<shove::rabbitmq> broker{shove::rabbitmq::parse(url).value()};
    broker.declare<changes>();
    const auto publisher = broker.publisher();
    for (int i = 1; i <= 3; ++i) {
        for (const char* customer : {"alice", "bob", "carol"})
            publisher.publish<changes>({customer, i});
    }

    std::stop_source done;
    std::atomic<int> left = 9;
    auto group = broker.consumer_group();
    group.add<changes>([&](const change& what, const shove::delivery& info) {
        if (what.customer == "alice" && what.number == 1 && info.attempt() == 1) {
            std::puts("alice 1 fails; alice waits");
            return shove::retry("her record is locked");
        }
        std::printf("%s %d\n", what.customer.c_str(), what.number);
        if (--left == 0) done.request_stop();
        return shove::ack;
    });
    return group.run_until(done.get_token(), 10s).exit_code();
}

}  // namespace

int main(int argc, char** argv) {
    const char* url = argc > 1 ? argv[1] : std::getenv("SHOVE_URL");
    if (!url) return std::fputs("usage: 19_rabbitmq_sequenced amqp://user:password@host:5672\n", stderr), 2;
    try {
        return run(url);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
