// Two services see every order, each with its own retries: the audit log fails at first, and nobody else notices.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct order_paid {
    std::string order_id;
    double amount = 0;
};
BOOST_DESCRIBE_STRUCT(order_paid, (), (order_id, amount))

struct orders : shove::topic<order_paid> {
    static constexpr auto topology = shove::topology("orders").hold(5s).dlq();
};

struct orders_for_audit : shove::topic<order_paid> {
    static constexpr auto topology = shove::topology("orders").for_consumer_group("audit").hold(100ms).dlq();
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<orders, orders_for_audit>();
    broker.publisher().publish<orders>({"ORD-1", 12.5});
    broker.publisher().publish<orders>({"ORD-2", 3.0});

    std::latch done(4);
    auto group = broker.consumer_group();
    group.add<orders>([&](const order_paid& order) {
        std::printf("charged %s\n", order.order_id.c_str());
        done.count_down();
        return shove::ack;
    });
    group.add<orders_for_audit>([&](const order_paid& order, const shove::delivery& delivery) {
        if (delivery.attempt() == 1) return shove::retry("the audit log is locked");
        std::printf("noted %s, from %s\n", order.order_id.c_str(), std::string(delivery.queue()).c_str());
        done.count_down();
        return shove::ack;
    });
    group.start();
    done.wait();
    const auto ended = group.stop(5s);
    std::printf("retried by audit: %llu, by the others: %llu\n",
                static_cast<unsigned long long>(group.stats<orders_for_audit>().retried),
                static_cast<unsigned long long>(group.stats<orders>().retried));
    return ended.exit_code();
}
