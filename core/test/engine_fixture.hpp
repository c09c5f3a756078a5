#pragma once

#include <shove/metrics.hpp>
#include <shove/shove.hpp>
#include <shove/testkit/events.hpp>
#include <shove/testkit/manual_clock.hpp>
#include <shove/testkit/scripted_driver.hpp>
#include <shove/trace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shove::test {

using namespace std::chrono_literals;
using testkit::counter;
using testkit::eventually;
using testkit::gate;
using testkit::opens_at_exit;
using testkit::recorder;
using testkit::settled_item;

using any_group = shove::consumer_group<any_backend>;
using any_publisher = shove::publisher<any_backend>;
using spi::settlement_kind;

/// The engine between a scripted driver and a clock that a test moves.
class engine_test : public testing::Test {
protected:
    /// What the broker can do; before the first use of `broker()`.
    spi::capabilities can = testkit::scripted_driver::least();
    std::shared_ptr<testkit::manual_clock> clock = std::make_shared<testkit::manual_clock>();
    recorder<std::string> said;
    recorder<std::string> happened;              ///< The names of the events,
    recorder<std::string> written;               ///< and all their texts.
    std::shared_ptr<shove::metrics> measured{};  ///< As the broker's; before the first use of `broker()`.
    std::shared_ptr<shove::tracer> tracing{};

    testkit::scripted_driver& driver() {
        if (!driver_) driver_ = std::make_shared<testkit::scripted_driver>(can);
        return *driver_;
    }
    any_broker& broker() {
        if (!broker_) {
            driver();
            broker_options options;
            options.worker_threads = 8;
            options.clock = clock;
            options.log = [said = said](log_level, std::string_view text) { said.add(std::string(text)); };
            options.on_event = [happened = happened, written = written](const event& what) {
                std::vector<std::string_view> names;
                for (const auto& field : what.fields)
                    names.push_back(field.name);
                EXPECT_TRUE(std::ranges::equal(names, what.info.fields)) << what.info.name << " has other fields";
                happened.add(std::string(what.info.name));
                written.add(std::string(what.text));
                for (const auto& field : what.fields) {  // the scripted driver's ids are its bodies
                    if (field.name != "message_id") written.add(std::string(field.text));
                }
            };
            options.metrics = measured;
            options.tracer = tracing;
            broker_.emplace(detail::broker_handle(detail::make_core(driver_, std::move(options))));
        }
        return *broker_;
    }
    runtime_topic topic(const shove::topology& spec = shove::topology("orders").hold(10ms).hold(50ms).dlq()) {
        return runtime_topic::make(spec).value();
    }
    /// Starts the fixture's group with one handler.
    void start(detail::raw_function handler, consumer_options how = {}) {
        group_for(std::move(handler), how);
        group_->start();
    }
    /// Makes the fixture's group without starting it.
    void group_for(detail::raw_function handler, consumer_options how = {}) {
        group_.emplace(broker().consumer_group());
        group_->add(topic(), std::move(handler), how);
    }
    any_group& group() { return *group_; }
    consumer_stats stats() const { return group_->stats("orders"); }
    /// Runs a blocking call beside the test; it must have ended when the test is torn down.
    template <class F>
    auto aside(F work) {
        std::shared_future future = std::async(std::launch::async, std::move(work));
        asides_.push_back(std::make_shared<decltype(future)>(future));
        return future;
    }
    std::shared_future<run_outcome> stop_aside(milliseconds drain) {
        return aside([this, drain] { return group_->stop(drain); });
    }
    /// Waits until the engine has no more to do for what was delivered.
    void wait_settled() {
        eventually("all settled", [&] { return driver().unsettled() == 0; });
    }
    /// Moves the clock in steps until something holds.
    void advance_until(std::string_view what, milliseconds step, const std::function<bool()>& condition) {
        eventually(what, [&] {
            if (condition()) return true;
            clock->advance(step);
            return condition();
        });
    }

    /// Time flies, so that no deadline of the end is waited for.
    void TearDown() override {
        std::atomic<bool> over{false};
        std::jthread flying([&] {
            while (!over) {
                clock->advance(100ms);
                std::this_thread::yield();
            }
        });
        driver().on_settle({});
        driver().on_close({});
        driver().release_settles();
        driver().answer_the_rest();
        asides_.clear();
        if (group_) (void)group_->stop(1h);
        group_.reset();
        broker_.reset();
        over = true;
        flying.join();
        expect_no_body_told();
        for (const auto& breach : driver().breaches())
            ADD_FAILURE() << "the engine broke a rule of the port: " << breach;
    }

private:
    /// What messages hold is for handlers only. Plain words and short bodies are left out: any text may have them.
    void expect_no_body_told() {
        const auto unmistakable = [](const std::string& body) {
            return body.size() >= 5 && std::ranges::any_of(body, [](char c) { return c < 'a' || c > 'z'; });
        };
        const auto texts = written.all();
        for (const auto& body : driver().bodies().all()) {
            if (!unmistakable(body)) continue;
            for (const auto& text : texts)
                EXPECT_EQ(text.find(body), std::string::npos) << "a message's body is told: " << text;
        }
    }

    std::shared_ptr<testkit::scripted_driver> driver_;
    std::optional<any_broker> broker_;
    std::optional<any_group> group_;
    std::vector<std::shared_ptr<void>> asides_;
};

/// A depth of a queue with much to do, for `on_depth`.
inline std::optional<result<spi::queue_depth>> much() {
    spi::queue_depth found;
    found.ready = 1'000;
    return result<spi::queue_depth>(found);
}

/// Answers always the same.
inline detail::raw_function always(outcome answer) {
    return [answer](std::span<const std::byte>, const delivery&) { return answer; };
}

inline std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace shove::test
