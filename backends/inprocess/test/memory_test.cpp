#include <gtest/gtest.h>

#include "driver_fixture.hpp"

#include <malloc.h>

// What queued messages cost, and that they give it back.
namespace {

using namespace inprocess_test;

constexpr std::size_t count = 1'000'000;
constexpr std::size_t payload_bytes = 100;

std::size_t in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// False under sanitizers, whose allocators keep no such count.
bool allocator_counts() {
    const auto before = in_use();
    const auto large = text(std::string(1'000'000, 'x'));
    return in_use() >= before + large.footprint();
}

class memory : public driver_fixture {
protected:
    memory() : driver_fixture({.capacity = count}) {}

    /// A message as a publisher makes it: a UUID, a content type, a type name, a time.
    shove::message usual() const {
        shove::message_parts parts;
        parts.id = "018f3a5e-7c1b-7def-8a90-123456789abc";
        parts.content_type = "application/json";
        parts.type = "order_paid";
        parts.payload = std::as_bytes(std::span(payload_));
        parts.published_at = clock->wall();
        return shove::message::make(parts);
    }
    void fill(milliseconds delay) {
        for (std::size_t i = 0; i < count / 100; ++i) {
            spi::publish_request batch;
            for (int n = 0; n < 100; ++n)
                batch.messages.push_back({usual(), delay});
            driver->publish(*topology, std::move(batch), [](const spi::publish_report&) {});
        }
    }
    /// Bytes that each message costs beside its payload.
    double overhead(milliseconds delay) {
        const auto before = in_use();
        fill(delay);
        return static_cast<double>(in_use() - before) / count - payload_bytes;
    }
    void drain() {
        auto sub = subscribe(1000);
        while (depth().ready > 0)
            settle(*sub, get(*sub, 1000), complete);
    }

private:
    std::string payload_ = std::string(payload_bytes, 'x');
};

TEST_F(memory, a_million_ready_messages_cost_at_most_100_bytes_each) {
    if (!allocator_counts()) GTEST_SKIP() << "this allocator keeps no count";
    const auto before = in_use();
    const auto bytes = overhead(0ms);
    RecordProperty("bytes_beside_payload", std::to_string(bytes));
    EXPECT_LE(bytes, 100);
    EXPECT_EQ(depth().ready, count);
    drain();
    EXPECT_LE(in_use(), before + 100'000);
}

TEST_F(memory, a_million_delayed_messages_cost_at_most_100_bytes_each) {
    if (!allocator_counts()) GTEST_SKIP() << "this allocator keeps no count";
    const auto before = in_use();
    const auto bytes = overhead(1h);
    RecordProperty("bytes_beside_payload", std::to_string(bytes));
    EXPECT_LE(bytes, 100);
    EXPECT_EQ(depth().delayed, count);
    clock->advance(1h);
    drain();
    EXPECT_LE(in_use(), before + 100'000);
}

}  // namespace
