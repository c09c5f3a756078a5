// Publish five messages inside this process and handle them.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct greeting {
    std::string name;
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(greeting, (), (name, number))

// The topic binds the message to its queue; the layout is checked at compile time.
struct greetings : shove::topic<greeting> {
    static constexpr auto topology = shove::topology("greetings");
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<greetings>();

    const auto publisher = broker.publisher();
    for (int i = 1; i <= 5; ++i)
        publisher.publish<greetings>({"world", i});

    std::latch handled(5);
    auto group = broker.consumer_group();
    group.add<greetings>([&](const greeting& hello) {
        std::printf("hello %s, message %d\n", hello.name.c_str(), hello.number);
        handled.count_down();
        return shove::ack;  // done: the message is gone
    });
    group.start();
    handled.wait();
    // A drain: handlers that run may finish, what they answered is settled.
    return group.stop(5s).exit_code();
}
