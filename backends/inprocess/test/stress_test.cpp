#include "driver_fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

// Many threads at once, with a ledger: nothing lost, nothing doubled, every callback called once.
namespace {

using namespace inprocess_test;

constexpr auto patience = 240s;

/// Waits for a callback of another thread.
template <class T>
class answer {
public:
    spi::callback<void(T)> sink() {
        return [shared = shared_](T given) {
            std::lock_guard lock(shared->mutex);
            EXPECT_FALSE(shared->value.has_value()) << "called twice";
            shared->value = std::move(given);
            shared->changed.notify_all();
        };
    }
    T wait() {
        std::unique_lock lock(shared_->mutex);
        const bool came = shared_->changed.wait_for(lock, patience, [&] { return shared_->value.has_value(); });
        if (!came) throw std::runtime_error("a callback was never called");
        return std::move(*shared_->value);
    }

private:
    struct state {
        std::mutex mutex;
        std::condition_variable changed;
        std::optional<T> value;
    };
    std::shared_ptr<state> shared_ = std::make_shared<state>();
};

shove::message numbered(std::uint32_t n) {
    shove::message_parts parts;
    parts.payload = std::as_bytes(std::span(&n, 1));
    return shove::message::make(parts);
}

std::uint32_t number_of(const shove::message& msg) {
    std::uint32_t n = 0;
    std::memcpy(&n, msg.payload().data(), sizeof n);
    return n;
}

/// Time that passes by itself, a millisecond at a time.
class passing_time {
public:
    explicit passing_time(shove::testkit::manual_clock& clock)
        : thread_([&clock](const std::stop_token& stop) {
              while (!stop.stop_requested()) {
                  clock.advance(1ms);
                  std::this_thread::yield();
              }
          }) {}

private:
    std::jthread thread_;
};

class stress : public driver_fixture {
protected:
    static constexpr std::uint32_t producers = 3, consumers = 3, each = 4'000, total = producers * each;

    stress() : driver_fixture({.capacity = 64}), ledger_(total) {}

    void produce(std::uint32_t which) {
        std::mt19937 random(which);
        std::uint32_t next = which * each;
        const std::uint32_t end = next + each;
        while (next < end) {
            const std::uint32_t size = std::min(1 + static_cast<std::uint32_t>(random() % 5), end - next);
            spi::publish_request batch;
            for (std::uint32_t i = 0; i < size; ++i) {
                batch.messages.push_back({numbered(next + i), milliseconds(random() % 10 == 0 ? random() % 4 : 0)});
            }
            batch.deadline = random() % 4 == 0 ? clock->now() + milliseconds(random() % 3) : shove::steady_time::max();
            answer<spi::publish_report> done;
            driver->publish(*topology, std::move(batch), done.sink());
            next += stored(done.wait(), size);
        }
    }
    static std::uint32_t stored(const spi::publish_report& report, std::uint32_t size) {
        if (report.each.empty()) return size;
        std::uint32_t count = 0;
        for (const auto& r : report.each)
            count += r.status == spi::publish_status::ok;
        return count;
    }

    void consume(std::uint32_t which) {
        std::mt19937 random(100 + which);
        auto sub = subscribe(1 + which * 7);
        while (handled_ < total) {
            {
                std::lock_guard lock(mutex_);
                current_[which] = sub;
            }
            answer<received> got;
            sub->receive(1 + random() % 20, got.sink());
            if (handled_ >= total) sub->cancel_receive();
            auto batch = got.wait();
            if (!batch) continue;
            settle_all(*sub, decide_randomly(std::move(*batch), random));
            if (random() % 50 == 0) sub = subscribe(1 + which * 7);
        }
    }
    std::vector<spi::settlement> decide_randomly(std::vector<spi::delivery> batch, std::mt19937& random) {
        std::vector<spi::settlement> decided;
        for (auto& d : batch) {
            switch (random() % 10) {
                case 0:
                    decided.push_back(decide(std::move(d), dead_letter));
                    break;
                case 1:
                case 2:
                    decided.push_back(decide(std::move(d), delay_it, milliseconds(random() % 4)));
                    break;
                case 3:
                    decided.push_back(decide(std::move(d), release));
                    break;
                default:
                    enter(number_of(d.msg));
                    decided.push_back(decide(std::move(d), complete));
            }
        }
        return decided;
    }
    static void settle_all(spi::subscription& sub, std::vector<spi::settlement> batch) {
        while (!batch.empty()) {
            answer<std::vector<spi::failed_settlement>> done;
            sub.settle(std::move(batch), done.sink());
            batch.clear();
            for (auto& failed : done.wait()) {
                EXPECT_EQ(failed.cause, errc::queue_full);
                batch.push_back(std::move(failed.what));
            }
        }
    }

    /// Settles on whatever thread the callback runs.
    void bury() {
        auto dlq = subscribe(5, true);
        {
            std::lock_guard lock(mutex_);
            current_[consumers] = dlq;
        }
        while (handled_ < total) {
            answer<bool> again;
            dlq->receive(3, [&, sink = again.sink()](received got) mutable {
                if (got) {
                    for (const auto& d : *got)
                        enter(number_of(d.msg));
                    dlq->settle(decide_all(std::move(*got), complete),
                                [](const auto& failed) { EXPECT_TRUE(failed.empty()); });
                }
                sink(true);
            });
            if (handled_ >= total) dlq->cancel_receive();
            again.wait();
        }
    }
    void enter(std::uint32_t n) {
        EXPECT_EQ(ledger_.at(n).fetch_add(1), 0) << n << " was handled twice";
        ++handled_;
    }
    void disturb(const std::stop_token& stop) {
        std::mt19937 random(7);
        while (!stop.stop_requested()) {
            std::shared_ptr<spi::subscription> victim;
            {
                std::lock_guard lock(mutex_);
                victim = current_[random() % current_.size()];
            }
            if (victim) victim->cancel_receive();
            depth();
            std::this_thread::yield();
        }
    }

    std::vector<std::atomic<int>> ledger_;
    std::atomic<std::uint32_t> handled_{0};
    std::mutex mutex_;
    std::vector<std::shared_ptr<spi::subscription>> current_ =
        std::vector<std::shared_ptr<spi::subscription>>(consumers + 1);
};

TEST_F(stress, every_message_ends_exactly_once) {
    passing_time time(*clock);
    {
        std::jthread disturber([this](const std::stop_token& stop) { disturb(stop); });
        std::vector<std::jthread> threads;
        for (std::uint32_t i = 0; i < producers; ++i)
            threads.emplace_back([this, i] { produce(i); });
        for (std::uint32_t i = 0; i < consumers; ++i)
            threads.emplace_back([this, i] { consume(i); });
        threads.emplace_back([this] { bury(); });
        threads.clear();
    }
    for (std::uint32_t n = 0; n < total; ++n)
        ASSERT_EQ(ledger_[n], 1) << n;
    for (const auto* queue : {"jobs", "jobs-dlq"}) {
        const auto left = depth(queue);
        EXPECT_EQ(left.ready + left.in_flight + left.delayed, 0u) << queue;
    }
}

TEST_F(stress, close_at_any_moment_answers_every_call) {
    for (int round = 0; round < 60; ++round) {
        reopen({.capacity = 16});
        passing_time time(*clock);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([this] {
                for (;;) {
                    answer<spi::publish_report> done;
                    driver->publish(*topology, request({"a", "b", "c"}, 0ms), done.sink());
                    const auto report = done.wait();
                    if (report.each.empty()) continue;
                    ASSERT_EQ(report.each.back().status != spi::publish_status::ok, true);
                    return;
                }
            });
            threads.emplace_back([this, i] {
                std::mt19937 random(static_cast<std::uint32_t>(i));
                box<shove::result<std::shared_ptr<spi::subscription>>> made;
                driver->subscribe({topology, false, 10, ""}, made.sink());
                if (!made.value()) return;
                auto sub = made.value().value();
                for (;;) {
                    answer<received> got;
                    sub->receive(5, got.sink());
                    auto batch = got.wait();
                    if (!batch) return;
                    constexpr spi::settlement_kind kinds[] = {complete, release, delay_it, dead_letter};
                    answer<std::vector<spi::failed_settlement>> done;
                    sub->settle(decide_all(std::move(*batch), kinds[random() % 4], 1ms), done.sink());
                    done.wait();
                }
            });
        }
        for (int i = 0; i < round * 20; ++i)
            std::this_thread::yield();
        close();
        threads.clear();
        driver.reset();
    }
}

TEST_F(stress, the_last_owner_may_go_while_timers_ring) {
    for (int round = 0; round < 200; ++round) {
        reopen({.capacity = 64});
        put({"a", "b", "c"}, 1ms);
        put({"d"}, 3ms);
        passing_time time(*clock);
        for (int i = 0; i < round % 20; ++i)
            std::this_thread::yield();
        driver.reset();
    }
    EXPECT_EQ(clock->pending(), 0u);
}

}  // namespace
