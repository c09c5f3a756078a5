// A broadcast on RabbitMQ: each of two listeners hears every setting that is published while it listens.
//   20_rabbitmq_broadcast [URL]     for example amqp://user:password@localhost:5672; else from SHOVE_URL
// Each listener has a queue that the broker names and removes with its connection; the exchange stays.
#include <shove/rabbitmq.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct setting {
    std::string name;
    int value = 0;
};
BOOST_DESCRIBE_STRUCT(setting, (), (name, value))

struct settings : shove::topic<setting> {
    static constexpr auto topology = shove::topology("example-settings").broadcast();
};

int run(const char* url) {
    shove::broker<shove::rabbitmq> broker{shove::rabbitmq::parse(url).value()};
    broker.declare<settings>();
    const auto publisher = broker.publisher();
    publisher.publish<settings>({"limit", 1});  // nobody listens yet: it is stored nowhere

    std::latch heard(4);
    auto one = broker.consumer_group();
    auto two = broker.consumer_group();
    const auto listen = [&heard](auto& group, const char* who) {
        group.template add_broadcast<settings>([&heard, who](const setting& what) {
            std::printf("%s: %s is %d\n", who, what.name.c_str(), what.value);
            heard.count_down();
            return shove::ack;
        });
        group.start();  // subscribed, once this returns
    };
    listen(one, "one");
    listen(two, "two");
    publisher.publish<settings>({"limit", 2});
    publisher.publish<settings>({"limit", 3});
    heard.wait();
    return one.stop(5s).exit_code() + two.stop(5s).exit_code();
}

}  // namespace

int main(int argc, char** argv) {
    const char* url = argc > 1 ? argv[1] : std::getenv("SHOVE_URL");
    if (!url) return std::fputs("usage: 20_rabbitmq_broadcast amqp://user:password@host:5672\n", stderr), 2;
    try {
        return run(url);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
