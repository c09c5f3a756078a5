#include <gtest/gtest.h>

#include <shove/inprocess.hpp>
#include <shove/protobuf.hpp>
#include <shove/shove.hpp>

#include "shop.pb.h"

#include <chrono>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct orders : shove::topic<shop::Order, shove::protobuf> {
    static constexpr auto topology = shove::topology("orders").dlq();
};

/// The same queue, as a publisher with another idea of it has it.
struct texts : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = orders::topology;
};

TEST(protobuf_topic, messages_arrive_and_undecodable_ones_are_dead_letters) {
    shove::broker<shove::inprocess> broker{{.capacity = 10}};
    broker.declare<orders>();
    shop::Order order;
    order.set_id("ORD-1");
    broker.publisher().publish<orders>(order);
    broker.publisher().publish<texts>("\x0A\xFFsecret");

    std::string got, type, reason, why;
    std::latch both(2);
    auto group = broker.consumer_group();
    group.add<orders>([&](const shop::Order& what, const shove::delivery& info) {
        got = what.id();
        type = info.content_type();
        both.count_down();
        return shove::ack;
    });
    group.add_dead<orders>([&](const shove::dead_letter<shop::Order>& letter) {
        reason = letter.info.death()->reason;
        why = letter.decode_error;
        both.count_down();
        return shove::ack;
    });
    group.start();
    both.wait();
    group.stop(5s);
    EXPECT_EQ(got, "ORD-1");
    EXPECT_EQ(type, "application/x-protobuf");
    EXPECT_EQ(reason, "deserialize");
    EXPECT_EQ(why, "shop.Order: not a message of this type, or cut off");
}

}  // namespace
