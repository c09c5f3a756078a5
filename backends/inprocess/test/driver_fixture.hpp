#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <shove/inprocess.hpp>
#include <shove/testkit/manual_clock.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inprocess_test {

using namespace std::chrono_literals;
using shove::errc;
using shove::error;
using shove::milliseconds;
namespace spi = shove::spi;

/// Takes what a callback gives.
template <class T>
class box {
public:
    spi::callback<void(T)> sink() {
        return [this](T given) {
            ++calls_;
            value_ = std::move(given);
        };
    }
    bool ready() const { return value_.has_value(); }
    int calls() const { return calls_; }
    T& value() { return value_.value(); }
    T take() { return std::exchange(value_, std::nullopt).value(); }

private:
    std::optional<T> value_;
    int calls_ = 0;
};

using received = shove::result<std::vector<spi::delivery>>;
using bodies = std::vector<std::string>;

inline shove::message text(std::string_view body) {
    shove::message_parts parts;
    parts.payload = std::as_bytes(std::span(body));
    return shove::message::make(parts);
}

inline std::string body_of(const shove::message& msg) {
    const auto bytes = msg.payload();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline bodies bodies_of(const std::vector<spi::delivery>& batch) {
    bodies all;
    for (const auto& d : batch)
        all.push_back(body_of(d.msg));
    return all;
}

inline std::vector<spi::publish_status> statuses(const spi::publish_report& report) {
    std::vector<spi::publish_status> all;
    for (const auto& r : report.each)
        all.push_back(r.status);
    return all;
}

/// A driver on a manual clock with the topology `jobs` (dead letters in `jobs-dlq`).
class driver_fixture : public testing::Test {
protected:
    explicit driver_fixture(shove::inprocess::config config = {}) { reopen(config); }

    void reopen(const shove::inprocess::config& config) {
        driver = shove::inprocess::open(config, {clock}).value();
        declare(topology);
    }
    void declare(const std::shared_ptr<const shove::queue_topology>& which) {
        box<error> done;
        driver->declare(which, done.sink());
        ASSERT_FALSE(done.value()) << done.value().message();
    }
    static std::shared_ptr<const shove::queue_topology> make(const shove::topology& spec) {
        return shove::queue_topology::make(spec).value();
    }

    spi::publish_request request(const bodies& texts, milliseconds delay = 0ms) {
        spi::publish_request made;
        for (const auto& t : texts)
            made.messages.push_back({text(t), delay});
        return made;
    }
    /// Publishes what must be stored at once.
    void put(const bodies& texts, milliseconds delay = 0ms) {
        box<spi::publish_report> done;
        driver->publish(*topology, request(texts, delay), done.sink());
        ASSERT_TRUE(done.ready());
        ASSERT_TRUE(done.value().each.empty()) << done.value().each.back().cause.message();
    }
    void put_waiting(const bodies& texts, shove::steady_time deadline, box<spi::publish_report>& done) {
        auto made = request(texts);
        made.deadline = deadline;
        driver->publish(*topology, std::move(made), done.sink());
    }

    std::shared_ptr<spi::subscription> subscribe(std::size_t prefetch = 100, bool dead = false) {
        box<shove::result<std::shared_ptr<spi::subscription>>> done;
        driver->subscribe({topology, dead, prefetch, "test"}, done.sink());
        return done.value().value();
    }
    /// Receives what must be there.
    std::vector<spi::delivery> get(spi::subscription& from, std::size_t max = 100) {
        box<received> got;
        from.receive(max, got.sink());
        if (!got.ready()) {
            from.cancel_receive();
            ADD_FAILURE() << "nothing to receive";
            return {};
        }
        return std::move(got.value().value());
    }
    static spi::settlement decide(spi::delivery item, spi::settlement_kind kind, milliseconds delay = 0ms) {
        return {std::move(item), kind, delay, {}};
    }
    static std::vector<spi::settlement> decide_all(std::vector<spi::delivery> items, spi::settlement_kind kind,
                                                   milliseconds delay = 0ms) {
        std::vector<spi::settlement> batch;
        for (auto& item : items)
            batch.push_back(decide(std::move(item), kind, delay));
        return batch;
    }
    /// Settles what must be carried out at once.
    static void settle(spi::subscription& sub, std::vector<spi::delivery> items, spi::settlement_kind kind,
                       milliseconds delay = 0ms) {
        box<std::vector<spi::failed_settlement>> done;
        sub.settle(decide_all(std::move(items), kind, delay), done.sink());
        ASSERT_TRUE(done.ready());
        ASSERT_TRUE(done.value().empty()) << done.value().front().cause.message();
    }
    spi::queue_depth depth(const std::string& queue = "jobs") {
        box<shove::result<spi::queue_depth>> done;
        driver->depth(queue, done.sink());
        return done.value().value();
    }
    void close() {
        box<error> done;
        driver->close(shove::steady_time::max(), done.sink());
        ASSERT_TRUE(done.ready());
        EXPECT_FALSE(done.value());
    }

    std::shared_ptr<shove::testkit::manual_clock> clock = std::make_shared<shove::testkit::manual_clock>();
    std::shared_ptr<const shove::queue_topology> topology = make(shove::topology("jobs").hold(1s).dlq());
    std::shared_ptr<spi::driver> driver;
};

constexpr auto complete = spi::settlement_kind::complete;
constexpr auto delay_it = spi::settlement_kind::delay;
constexpr auto dead_letter = spi::settlement_kind::dead_letter;
constexpr auto release = spi::settlement_kind::release;

}  // namespace inprocess_test
