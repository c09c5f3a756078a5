#include "driver.hpp"

#include <algorithm>
#include <utility>

#include "check_config.hpp"
#include "control.hpp"

namespace shove::kafka_backend {

namespace {

error not_yet(const char* what) {
    return {errc::unsupported, std::string("Kafka: ") + what + " is not there yet"};
}

/// What is left until a deadline, for librdkafka.
int left_until(steady_time deadline, int most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 1, most));
}

}  // namespace

driver::driver(std::shared_ptr<const kafka::config> settings, std::shared_ptr<shove::clock> time) {
    shared_.settings = std::move(settings);
    shared_.clock = std::move(time);
    shared_.on = std::make_shared<loop>();
    shared_.asking = std::make_shared<control>(shared_.settings, shared_.on);
    known_ = std::make_unique<topologies>(shared_.asking);
}

error driver::open() {
    return shared_.asking->open();
}

driver::~driver() {
    close(std::chrono::steady_clock::now(), [](const error&) {});
    if (closing_.joinable()) closing_.join();
    shared_.asking->finish();
    shared_.on->finish();
}

void driver::declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) {
    known_->declare(std::move(topology), std::move(done));
}

void driver::publish(const queue_topology&, spi::publish_request request,
                     spi::callback<void(spi::publish_report)> done) {
    spi::publish_report report;
    report.each.resize(request.messages.size(), {spi::publish_status::failed, not_yet("publish")});
    done(std::move(report));
}

void driver::subscribe(spi::source, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
    done(not_yet("subscribe"));
}

void driver::depth(std::string, spi::callback<void(result<spi::queue_depth>)> done) {
    done(not_yet("depth"));
}

void driver::ping(steady_time deadline, spi::callback<void(error)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto look = [asking = shared_.asking, deadline, answer](rd_kafka_t* client) {
        const rd_kafka_metadata_t* all = nullptr;
        const auto code = rd_kafka_metadata(client, 0, nullptr, &all, left_until(deadline, asking->patience()));
        if (all) rd_kafka_metadata_destroy(all);
        (*answer)(asking->explained(error_of(code, "no answer from Kafka at " + servers_text(asking->settings()))));
    };
    shared_.asking->ask(std::move(look), [answer](const error& why) { (*answer)(why); });
}

void driver::describe(spi::callback<void(result<spi::description>)> done) {
    done(not_yet("describe"));
}

void driver::close(steady_time deadline, spi::callback<void(error)> done) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_, true)) return done({});
    }
    shared_.asking->shut();
    // Waiting for threads is work that blocks.
    closing_ = std::thread([shared = shared_, deadline, done = std::move(done)]() mutable {
        const bool in_time = shared.asking->wait_stopped(deadline);
        done(in_time ? error() : error(errc::timed_out, "closing the connections to Kafka took too long"));
    });
}

}  // namespace shove::kafka_backend
