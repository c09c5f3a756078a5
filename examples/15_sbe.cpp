// Simple Binary Encoding: flyweights that the SBE tool generated from 15_sbe.xml, over a message's own bytes.
#include <shove/inprocess.hpp>
#include <shove/sbe.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>

#include <exchange/Order.h>
#include <exchange/Tick.h>

namespace {

using namespace std::chrono_literals;

// A tick has fixed fields alone: its handler looks at the broker's memory, and nothing is copied.
struct ticks : shove::topic<shove::sbe_view<exchange::Tick>, shove::sbe<exchange::Tick>> {
    static constexpr auto topology = shove::topology("ticks").dlq();
};

// An order has a group and a text: a checked copy.
struct orders : shove::topic<shove::sbe_frame<exchange::Order>, shove::sbe<exchange::Order>> {
    static constexpr auto topology = shove::topology("orders").hold(1s).dlq();
};

void fill_in(exchange::Order& order) {
    order.id(7);
    order.fillsCount(2).next().quantity(3).price(1250).next().quantity(4).price(1251);
    order.putNote(std::string("good till noon"));
}

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<ticks>();
    broker.declare<orders>();
    const auto publisher = broker.publisher();

    shove::sbe_frame<exchange::Tick> tick;  // its memory is used again
    for (const int price : {1250, 1251}) {
        tick.build([&](exchange::Tick& to) { to.instrument(42).price(price); });
        publisher.publish<ticks>(tick);
    }
    publisher.publish<orders>(shove::sbe_frame<exchange::Order>(fill_in, /*room*/ 200));

    std::latch handled(3);
    auto group = broker.consumer_group();
    group.add<ticks>([&](const shove::sbe_view<exchange::Tick>& got) {
        const auto read = got.read();
        std::printf("instrument %u: %lld\n", read.instrument(), static_cast<long long>(read.price()));
        handled.count_down();
        return shove::ack;
    });
    group.add<orders>([&](const shove::sbe_frame<exchange::Order>& got) {
        auto read = got.read();
        unsigned quantity = 0;
        read.fills().forEach([&](exchange::Order::Fills& fill) { quantity += fill.quantity(); });
        std::printf("order %llu: %u filled, %s\n", static_cast<unsigned long long>(read.id()), quantity,
                    read.getNoteAsString().c_str());
        handled.count_down();
        return shove::ack;
    });
    group.start();
    handled.wait();
    return group.stop(5s).exit_code();
}
