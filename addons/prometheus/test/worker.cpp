// A worker with known work, for scrape_test.py: prints its port, works, prints its ledger as JSON, and answers scrapes
// until its input ends.
#include <shove/audit.hpp>
#include <shove/inprocess.hpp>
#include <shove/prometheus.hpp>
#include <shove/shove.hpp>
#include <shove/testkit/events.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

struct order {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (number))

struct orders : shove::topic<order> {
    static constexpr auto topology = shove::topology("orders").hold(1ms).dlq();
};
struct lossy : shove::topic<order> {
    static constexpr auto topology = shove::topology("lossy").allow_message_loss();
};

constexpr int messages = 5'000;

/// What became of them.
struct ledger {
    std::atomic<int> acked{0};
    std::atomic<int> retried{0};
    std::atomic<int> rejected{0};
    std::atomic<int> deferred{0};
    std::atomic<int> discarded{0};
};

shove::outcome handle(ledger& book, const order& what, const shove::delivery& info) {
    if (what.number % 100 == 1) return ++book.rejected, shove::reject("one in 100");
    if (what.number % 50 == 2 && !info.redelivered()) return ++book.retried, shove::retry;
    if (what.number % 50 == 3 && info.deliveries().value_or(1) == 1 && !info.redelivered()) {
        return ++book.deferred, shove::defer;
    }
    ++book.acked;
    return shove::ack;
}

int run() {
    ledger book;
    const auto measured = std::make_shared<shove::metrics>();
    const shove::prometheus_exporter exporter(measured, {.address = "127.0.0.1:0"});
    std::cout << exporter.port() << std::endl;
    const auto trail = std::make_shared<shove::audit_trail>([](auto) {});
    shove::broker_options options;
    options.metrics = measured;
    options.depth_samples = 100ms;
    shove::broker<shove::inprocess> broker({}, std::move(options));
    auto group = broker.consumer_group({.audit = trail});
    group.add<orders>([&](const order& what, const shove::delivery& info) { return handle(book, what, info); },
                      {.consumers = {1, 3}, .prefetch = 20});
    group.add<lossy>([&](const order&) { return ++book.discarded, shove::reject("all of them"); });
    group.enable_autoscaling({.poll = 100ms, .hysteresis = 0ms, .cooldown = 200ms});
    group.start();
    const auto publisher = broker.publisher();
    for (int i = 0; i < messages; ++i) {
        publisher.publish<orders>({i});
        if (i % 1'000 == 0) publisher.publish<lossy>({i});
    }
    const auto done = [&] { return book.acked + book.rejected == messages && book.discarded == 5; };
    const auto settled = [&] { return group.stats("orders").unsettled + group.stats("lossy").unsettled == 0; };
    shove::testkit::eventually("the work", [&] { return done() && settled(); });
    shove::testkit::eventually("a look at the depth after the work", [&] {
        return measured->value("queue_dead_letters", {"orders"}) == book.rejected &&
               measured->value("queue_backlog", {"orders"}) == 0;
    });
    trail->flush(5s);
    std::cout << "{\"acked\":" << book.acked << ",\"retried\":" << book.retried << ",\"rejected\":" << book.rejected
              << ",\"deferred\":" << book.deferred << ",\"discarded\":" << book.discarded
              << ",\"published\":" << messages << ",\"audited\":" << trail->counts().written << "}" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
    }
    return group.stop(5s).exit_code();
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
