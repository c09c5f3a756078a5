// Protocol Buffers: the topic's messages are objects of a class that protoc generated from 14_protobuf.proto.
#include <shove/inprocess.hpp>
#include <shove/protobuf.hpp>
#include <shove/shove.hpp>

#include "14_protobuf.pb.h"

#include <chrono>
#include <cstdio>
#include <latch>

namespace {

using namespace std::chrono_literals;

struct readings : shove::topic<weather::Reading, shove::protobuf> {
    static constexpr auto topology = shove::topology("readings").hold(1s).dlq();
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<readings>();

    weather::Reading reading;
    reading.set_station("north");
    reading.set_celsius(-3.5);
    reading.add_remarks("snow");
    broker.publisher().publish<readings>(reading);

    std::latch handled(1);
    auto group = broker.consumer_group();
    group.add<readings>([&](const weather::Reading& got) {
        std::printf("%s: %.1f degrees, %d remark(s)\n", got.station().c_str(), got.celsius(), got.remarks_size());
        handled.count_down();
        return shove::ack;
    });
    group.start();
    handled.wait();
    return group.stop(5s).exit_code();
}
