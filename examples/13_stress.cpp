// How many messages a second, by number of consumers and by what a handler does. `shove bench` measures more closely;
// this is the pattern to copy for a topic and a handler of your own.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct reading {
    std::uint64_t sensor = 0;
    double value = 0;
};
BOOST_DESCRIBE_STRUCT(reading, (), (sensor, value))

struct readings : shove::topic<reading> {
    static constexpr auto topology = shove::topology("readings").dlq();
};

struct scenario {
    const char* handler;
    std::chrono::microseconds work;
    int messages;
};

/// Fills the queue, then measures from the start of the group to the last handler's end.
double messages_per_second(const scenario& what, std::uint32_t consumers) {
    shove::broker<shove::inprocess> broker{{.capacity = static_cast<std::size_t>(what.messages)}};
    broker.declare<readings>();
    std::vector<reading> all;
    for (int i = 0; i < what.messages; ++i)
        all.push_back({static_cast<std::uint64_t>(i % 100), i * 0.5});
    if (!broker.publisher().publish_batch<readings>(all).all_stored()) return 0;

    std::latch handled(what.messages);
    auto group = broker.consumer_group();
    group.add<readings>(
        [&](const reading&) {
            if (what.work > 0us) std::this_thread::sleep_for(what.work);
            handled.count_down();
            return shove::ack;
        },
        shove::consumer_options{.consumers = consumers, .prefetch = 50}.sequential());
    const auto began = std::chrono::steady_clock::now();
    group.start();
    handled.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    (void)group.stop(5s);
    return what.messages / took.count();
}

}  // namespace

int main() {
    std::printf("%-14s %12s %12s %12s\n", "handler", "1 consumer", "2 consumers", "4 consumers");
    for (const auto& what : {scenario{"returns", 0us, 50'000}, scenario{"waits 500 us", 500us, 400}}) {
        std::printf("%-14s", what.handler);
        for (const std::uint32_t consumers : {1U, 2U, 4U})
            std::printf(" %10.0f/s", messages_per_second(what, consumers));
        std::printf("\n");
    }
}
