// A program of an outside project with messages of both codecs.
#include <shove/inprocess.hpp>
#include <shove/protobuf.hpp>
#include <shove/sbe.hpp>
#include <shove/shove.hpp>

#include "city.pb.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <latch>

#include <map/Town.h>

struct cities : shove::topic<map::City, shove::protobuf> {
    static constexpr auto topology = shove::topology("cities").dlq();
};

struct towns : shove::topic<shove::sbe_view<map::Town>, shove::sbe<map::Town>> {
    static constexpr auto topology = shove::topology("towns").dlq();
};

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 10}};
    broker.declare<cities>();
    broker.declare<towns>();
    map::City city;
    city.set_name("Ulm");
    broker.publisher().publish<cities>(city);
    broker.publisher().publish<towns>(shove::sbe_frame<map::Town>([](map::Town& town) { town.people(300); }));

    std::latch handled(2);
    std::atomic<bool> right = true;
    const auto check = [&](bool same) {
        if (!same) right = false;
        handled.count_down();
        return shove::ack;
    };
    auto group = broker.consumer_group();
    group.add<cities>([&](const map::City& got) { return check(got.name() == "Ulm"); });
    group.add<towns>([&](const shove::sbe_view<map::Town>& got) { return check(got.read().people() == 300); });
    group.start();
    handled.wait();
    group.stop(std::chrono::seconds(10));
    std::puts(right ? "consumed" : "lost");
    return right ? 0 : 1;
}
