#include "watched.hpp"

namespace shove::testkit {
namespace {

using watch_ptr = std::shared_ptr<leak_watch>;

void hear(leak_watch& watch, std::string_view place, const error& answer) {
    watch.told(place, answer);
}

void hear(leak_watch& watch, std::string_view place, const spi::publish_report& answer) {
    for (const auto& each : answer.each)
        watch.told(place, each.cause);
}

void hear(leak_watch& watch, std::string_view place, const spi::description& answer) {
    for (const auto& each : answer.facts) {
        watch.told(place, each.name);
        watch.told(place, each.value);
    }
}

template <class T>
void hear(leak_watch&, std::string_view, const T&) {}

template <class T>
void hear(leak_watch& watch, std::string_view place, const result<T>& answer) {
    if (!answer) return hear(watch, place, answer.error());
    hear(watch, place, *answer);
}

/// Watches an answer on its way.
template <class T>
spi::callback<void(T)> watched_answer(watch_ptr watch, std::string_view place, spi::callback<void(T)> done) {
    return [watch = std::move(watch), place, done = std::move(done)](T answer) mutable {
        hear(*watch, place, answer);
        done(std::move(answer));
    };
}

/// A driver between the engine and the backend's own.
class watched_driver final : public spi::driver {
public:
    watched_driver(std::shared_ptr<spi::driver> to, watch_ptr watch) : to_(std::move(to)), watch_(std::move(watch)) {}

    const spi::capabilities& capabilities() const noexcept override { return to_->capabilities(); }
    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) override {
        to_->declare(std::move(topology), watched_answer(watch_, "an error of declare", std::move(done)));
    }
    void publish(const queue_topology& topology, spi::publish_request request,
                 spi::callback<void(spi::publish_report)> done) override {
        for (const auto& each : request.messages)
            watch_->keep_message(each.msg.payload(), each.msg.headers());
        to_->publish(topology, std::move(request), watched_answer(watch_, "an error of publish", std::move(done)));
    }
    void subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) override {
        to_->subscribe(std::move(from), watched_answer(watch_, "an error of subscribe", std::move(done)));
    }
    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) override {
        to_->depth(std::move(queue), watched_answer(watch_, "an error of depth", std::move(done)));
    }
    void ping(steady_time deadline, spi::callback<void(error)> done) override {
        to_->ping(deadline, watched_answer(watch_, "an error of ping", std::move(done)));
    }
    void describe(spi::callback<void(result<spi::description>)> done) override {
        to_->describe(watched_answer(watch_, "the description", std::move(done)));
    }
    void close(steady_time deadline, spi::callback<void(error)> done) override {
        to_->close(deadline, watched_answer(watch_, "an error of close", std::move(done)));
    }
    spi::admin* admin() noexcept override { return to_->admin(); }

private:
    std::shared_ptr<spi::driver> to_;
    watch_ptr watch_;
};

}  // namespace

std::shared_ptr<spi::driver> watched(std::shared_ptr<spi::driver> driver, const watch_ptr& watch) {
    return std::make_shared<watched_driver>(std::move(driver), watch);
}

}  // namespace shove::testkit
