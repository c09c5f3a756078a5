// Publish many messages in one go, with headers and an id of your own; publish one for later, one that expires.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct reading {
    std::string sensor;
    double celsius = 0;
};
BOOST_DESCRIBE_STRUCT(reading, (), (sensor, celsius))

struct readings : shove::topic<reading> {
    static constexpr auto topology = shove::topology("readings").dlq();
};

void publish(const shove::broker<shove::inprocess>& broker) {
    const auto publisher = broker.publisher();

    // A batch: one state per message, never an exception for one of them.
    const std::vector<reading> batch{{"attic", 21.5}, {"cellar", 9.0}, {"roof", -3.25}};
    const auto report = publisher.publish_batch<readings>(batch);
    std::printf("batch of %zu, all stored: %s\n", batch.size(), report.all_stored() ? "yes" : "no");

    shove::publish_options options;
    options.headers.set("unit", "celsius");
    options.headers.set("calibrated", true);
    options.id = "garden-2024-06-01";  // the same through retries and replay: for deduplication
    publisher.publish<readings>({"garden", 17.0}, options);

    publisher.publish_in<readings>(100ms, {"later", 0.0});

    shove::publish_options brief;
    brief.delay = 50ms;
    brief.expires_in = 1ms;  // over before it is handed out: a dead letter, reason `expired`
    publisher.publish<readings>({"stale", 0.0}, brief);
}

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<readings>();
    publish(broker);

    std::latch done(6);
    auto group = broker.consumer_group();
    group.add<readings>([&](const reading& what, const shove::delivery& info) {
        std::printf("%-7s %6.2f, %lld ms old, %zu headers\n", what.sensor.c_str(), what.celsius,
                    static_cast<long long>(info.age().count()), info.headers().size());
        done.count_down();
        return shove::ack;
    });
    group.add_dead<readings>([&](const shove::dead_letter<reading>& letter) {
        const std::string reason(letter.info.death()->reason);
        std::printf("%-7s dead: %s\n", letter.message->sensor.c_str(), reason.c_str());
        done.count_down();
        return shove::ack;
    });
    group.start();
    done.wait();
    return group.stop(5s).exit_code();
}
