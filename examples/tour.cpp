// The tour of the README, complete: run it, watch it handle one order, end it with Ctrl-C.
#include <shove/shove.hpp>
#include <shove/sqlite.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

struct order_paid {
    std::string order_id;
    double amount = 0;
};
BOOST_DESCRIBE_STRUCT(order_paid, (), (order_id, amount))

struct orders : shove::topic<order_paid> {
    static constexpr auto topology = shove::topology("orders").hold(5s).hold(30s).dlq();  // checked at compile time
};

bool charge(const order_paid& order) {
    std::cout << "charging " << order.amount << " for " << order.order_id << std::endl;
    return order.amount > 0;
}

int main() {
    shove::broker<shove::sqlite> broker{{.path = "orders.db"}};
    broker.declare<orders>();
    broker.publisher().publish<orders>({"ORD-1", 12.5});  // returns once confirmed

    auto group = broker.consumer_group();
    group.add<orders>(
        [](const order_paid& order, const shove::delivery&) {
            return charge(order) ? shove::ack : shove::retry;  // or a coroutine that co_returns it
        },
        {.consumers = 4});
    return group.run_until_signal(/*drain*/ 30s).exit_code();
}
