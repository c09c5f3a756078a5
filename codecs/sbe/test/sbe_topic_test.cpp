#include <gtest/gtest.h>

#include "market_frames.hpp"

#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <latch>
#include <string>

// Through a broker, in both forms.
namespace {

using namespace market_frames;
using namespace std::chrono_literals;

struct copied : shove::topic<order_frame, shove::sbe<market::Order>> {
    static constexpr auto topology = shove::topology("copied").dlq();
};
struct in_place : shove::topic<order_view, shove::sbe<market::Order>> {
    static constexpr auto topology = shove::topology("in-place").dlq();
};

/// The same queue, for bytes of any kind.
template <class T>
struct bytes_to : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = T::topology;
};

/// One message arrives, what is no message becomes a dead letter.
template <class T>
void passes(bool in_place) {
    using message = typename T::message_type;
    shove::broker<shove::inprocess> broker{{.capacity = 10}};
    broker.declare<T>();
    broker.publisher().template publish<T>(frame_of(an_order));
    broker.publisher().template publish<bytes_to<T>>("secret");

    order got;
    bool same_place = false;
    std::string type, why;
    std::latch both(2);
    auto group = broker.consumer_group();
    group.template add<T>([&](const message& what, const shove::delivery& info) {
        got = read(what.read());
        same_place = what.bytes().data() == info.payload().data();
        type = info.content_type();
        both.count_down();
        return shove::ack;
    });
    group.template add_dead<T>([&](const shove::dead_letter<message>& letter) {
        why = letter.decode_error;
        both.count_down();
        return shove::ack;
    });
    group.start();
    both.wait();
    group.stop(5s);
    EXPECT_EQ(got, an_order);
    EXPECT_EQ(same_place, in_place);
    EXPECT_EQ(type, "application/x-sbe");
    EXPECT_EQ(why, "market::Order: too short: 6 bytes, an SBE header has 8");
}

TEST(sbe_topic, copied) {
    passes<copied>(false);
}
TEST(sbe_topic, in_place) {
    passes<in_place>(true);
}

}  // namespace
