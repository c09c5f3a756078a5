#pragma once

#include <shove/error.hpp>
#include <shove/kafka.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

namespace shove::kafka_test {

/// Calls `begin` with a callback of one argument, and gives that argument. Throws after 30 s.
template <class T, class Begin>
T waited(Begin&& begin) {
    auto told = std::make_shared<std::promise<T>>();
    auto answer = told->get_future();
    begin([told](T what) { told->set_value(std::move(what)); });
    if (answer.wait_for(std::chrono::seconds(30)) != std::future_status::ready) throw exception(errc::timed_out);
    return answer.get();
}

/// A driver on a cluster.
class opened {
public:
    explicit opened(const std::string& url)
        : driver_(kafka::open(kafka::parse(url).value(), {make_system_clock()}).value()) {}
    explicit opened(const kafka::config& settings) : driver_(kafka::open(settings, {make_system_clock()}).value()) {}

    spi::driver& operator*() const noexcept { return *driver_; }
    spi::driver* operator->() const noexcept { return driver_.get(); }

    error declare(const topology& what) const {
        const auto made = queue_topology::make(what).value();
        return waited<error>([&](auto done) { driver_->declare(made, std::move(done)); });
    }
    error ping(std::chrono::milliseconds within = std::chrono::seconds(10)) const {
        const auto until = std::chrono::steady_clock::now() + within;
        return waited<error>([&](auto done) { driver_->ping(until, std::move(done)); });
    }

private:
    std::shared_ptr<spi::driver> driver_;
};

}  // namespace shove::kafka_test
