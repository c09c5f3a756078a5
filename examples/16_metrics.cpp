// Metrics for Prometheus: counts by outcome, handler times, depth of the queues. Prints what a scrape would get.
#include <shove/inprocess.hpp>
#include <shove/prometheus.hpp>
#include <shove/shove.hpp>

#include <atomic>
#include <iostream>
#include <memory>
#include <stop_token>

using namespace std::chrono_literals;

struct order {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (number))

struct orders : shove::topic<order> {
    static constexpr auto topology = shove::topology("orders").hold(10ms).dlq();
};

int main() {
    const auto measured = std::make_shared<shove::metrics>();
    const shove::prometheus_exporter exporter(measured, {.address = "127.0.0.1:0"});  // any free port
    std::cout << "scrape http://127.0.0.1:" << exporter.port() << "/metrics\n\n";

    shove::broker<shove::inprocess> broker({}, {.metrics = measured});
    auto group = broker.consumer_group();
    std::stop_source done;
    std::atomic<int> left{100};
    group.add<orders>([&](const order& what) -> shove::outcome {
        if (what.number % 10 == 0) {
            if (--left == 0) done.request_stop();
            return shove::reject("one in ten");
        }
        if (--left == 0) done.request_stop();
        return shove::ack;
    });
    broker.declare<orders>();
    const auto publisher = broker.publisher();
    for (int i = 0; i < 100; ++i)
        publisher.publish<orders>({i});
    const auto ended = group.run_until(done.get_token(), 5s);

    std::cout << shove::prometheus_text(*measured);
    std::cout << "\nrejected: " << measured->value("messages_consumed_total", {"orders", "default", "reject"}) << '\n';
    return ended.exit_code();
}
