// What the Rust implementation and the broker put on the wire, and what we make of it.

#include <gtest/gtest.h>

#include <string>

#include "field.hpp"
#include "wire_support.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;

/// An entry of `x-death`, as the broker writes it.
struct death_entry {
    std::vector<amqp_field_value_t> keys;
    table_builder table;

    death_entry(std::string_view reason, std::string_view queue, std::uint64_t count, std::string_view exchange,
                std::string_view key)
        : keys{bytes('S', key)} {
        table.add("count", number('l', count))
            .add("reason", bytes('S', reason))
            .add("queue", bytes('S', queue))
            .add("time", number('T', 1'700'000'000))
            .add("exchange", bytes('S', exchange))
            .add("routing-keys", list(keys));
    }
};

amqp_basic_properties_t as_json(amqp_basic_properties_t p) {
    p._flags |= AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG;
    p.content_type = bytes_of("application/json");
    p.delivery_mode = 2;
    return p;
}

TEST(reference_test, a_batch_publish_has_nothing_but_a_body) {
    const auto made = read(as_json({}), from_queue, "{\"n\":1}");
    EXPECT_EQ(made.msg.id(), "");
    EXPECT_EQ(made.msg.key(), std::nullopt);
    EXPECT_EQ(made.msg.content_type(), "application/json");
    EXPECT_TRUE(made.msg.headers().empty());
    EXPECT_EQ(made.msg.payload().size(), 7u);
    EXPECT_EQ(made.past, nullptr);
}

TEST(reference_test, a_single_publish_has_its_id_as_a_header) {
    table_builder it;
    it.add("x-trace-id", bytes('S', "t")).add("x-message-id", bytes('S', "6f2a1b9e-8f0e-4c57-9a3c-0d5f0f6f7a11"));
    const auto made = read(as_json(it.properties()));
    EXPECT_EQ(made.msg.id(), "6f2a1b9e-8f0e-4c57-9a3c-0d5f0f6f7a11");
    EXPECT_EQ(made.msg.headers().size(), 1u);
    EXPECT_EQ(made.msg.headers().text("x-trace-id"), "t");
}

TEST(reference_test, a_hold_copy_that_came_back_has_been_tried) {
    death_entry hold("expired", "orders-hold-1000", 2, "", "orders-hold-1000");
    std::vector<amqp_field_value_t> deaths{hold.table.as_field()};
    table_builder it;
    it.add("x-retry-count", number('i', 2))
        .add("x-message-id", bytes('S', "an-id"))
        .add("x-request-id", number('I', 4))
        .add("x-death", list(deaths))
        .add("x-first-death-exchange", bytes('S', ""))
        .add("x-first-death-queue", bytes('S', "orders-hold-1000"))
        .add("x-first-death-reason", bytes('S', "expired"))
        .add("x-last-death-exchange", bytes('S', ""))
        .add("x-last-death-queue", bytes('S', "orders-hold-1000"))
        .add("x-last-death-reason", bytes('S', "expired"))
        .add("x-delivery-count", number('l', 1));
    const auto made = read(as_json(it.properties()));
    ASSERT_NE(made.past, nullptr);
    EXPECT_EQ(made.past->retries, 2u);
    EXPECT_EQ(made.past->death_reason, "");
    EXPECT_EQ(made.msg.id(), "an-id");
    EXPECT_EQ(made.msg.headers().find("x-request-id"), header_value(std::int64_t{4}));
    EXPECT_EQ(made.msg.headers().size(), 2u) << "the header, and the note of its type";

    const auto copy = sent(made.msg, made.past.get());
    EXPECT_EQ(find_field(copy->properties().headers, "x-death"), nullptr);
    EXPECT_EQ(find_field(copy->properties().headers, "x-request-id")->kind, 'I');
    EXPECT_EQ(find_field(copy->properties().headers, "x-retry-count")->kind, 'i');
}

TEST(reference_test, the_retry_count_may_be_any_integer) {
    const auto retries = [](const amqp_field_value_t& field) -> std::uint32_t {
        table_builder it;
        it.add("x-retry-count", field);
        const auto made = read(it.properties());
        return made.past ? made.past->retries : 0;
    };
    for (const char kind : {'b', 'B', 's', 'u', 'I', 'i', 'l', 'L'})
        EXPECT_EQ(retries(number(kind, 5)), 5u) << kind;
    EXPECT_EQ(retries(number('b', 0xFF)), 0u);
    EXPECT_EQ(retries(number('l', ~std::uint64_t{0})), 0u);
    EXPECT_EQ(retries(number('l', std::uint64_t{1} << 33)), 0xFFFFFFFFu);
    EXPECT_EQ(retries(bytes('S', "5")), 0u);
    EXPECT_EQ(retries(number('t', 1)), 0u);
    EXPECT_EQ(retries(nothing()), 0u);
}

TEST(reference_test, the_brokers_dead_letter_tells_reason_queue_and_count) {
    death_entry rejected("rejected", "orders", 1, "", "orders");
    death_entry hold("expired", "orders-hold-1000", 2, "", "orders-hold-1000");
    std::vector<amqp_field_value_t> deaths{rejected.table.as_field(), hold.table.as_field()};
    table_builder it;
    it.add("x-retry-count", number('i', 2)).add("x-death", list(deaths));
    const auto made = read(it.properties(), from_dead_letters);
    ASSERT_NE(made.past, nullptr);
    EXPECT_EQ(made.past->death_reason, "rejected");
    EXPECT_EQ(made.past->original_queue, "orders");
    EXPECT_EQ(made.past->death_count, 1u);
    EXPECT_EQ(made.past->dead_at, wall_time(std::chrono::seconds(1'700'000'000)));
    EXPECT_EQ(made.past->retries, 2u);
    EXPECT_TRUE(made.msg.headers().empty());
}

TEST(reference_test, a_sequenced_dead_letter_has_its_key_in_its_death) {
    death_entry rejected("rejected", "orders-seq-3", 1, "orders-seq-hash", "customer 7");
    std::vector<amqp_field_value_t> deaths{rejected.table.as_field()};
    table_builder it;
    it.add("x-death", list(deaths));
    const auto made = read(it.properties(), {"", "orders-dlq", "orders-seq-hash", true});
    EXPECT_EQ(made.msg.key(), "customer 7");
}

TEST(reference_test, a_letter_without_a_death_is_read_all_the_same) {
    EXPECT_EQ(read({}, from_dead_letters).past, nullptr);
    std::vector<amqp_field_value_t> none, odd{number('B', 1)};
    table_builder empty_table;
    std::vector<amqp_field_value_t> tables{empty_table.as_field()};
    for (const auto& field : {list(none), list(odd), list(tables), bytes('S', "x"), nothing()}) {
        table_builder it;
        it.add("x-death", field);
        const auto made = read(it.properties(), from_dead_letters);
        EXPECT_EQ(made.past, nullptr);
        EXPECT_TRUE(made.msg.headers().empty());
    }
}

TEST(reference_test, counts_of_deaths_may_be_any_integer) {
    for (const char kind : {'b', 's', 'I', 'l'}) {
        table_builder death, it;
        death.add("reason", bytes('S', "maxlen")).add("count", number(kind, 9));
        std::vector<amqp_field_value_t> deaths{death.as_field()};
        it.add("x-death", list(deaths));
        const auto made = read(it.properties(), from_dead_letters);
        EXPECT_EQ(made.past->death_count, 9u);
        EXPECT_EQ(made.past->death_reason, "maxlen");
    }
}

TEST(reference_test, our_own_death_is_finer_than_the_brokers) {
    death_entry rejected("rejected", "elsewhere", 7, "", "orders");
    std::vector<amqp_field_value_t> deaths{rejected.table.as_field()};
    table_builder it;
    it.add("x-death", list(deaths))
        .add("x-shove-death-reason", bytes('S', "oversize"))
        .add("x-shove-original-queue", bytes('S', "orders"))
        .add("x-shove-death-count", number('i', 2));
    const auto made = read(it.properties(), from_dead_letters);
    EXPECT_EQ(made.past->death_reason, "oversize");
    EXPECT_EQ(made.past->original_queue, "orders");
    EXPECT_EQ(made.past->death_count, 2u);
}

}  // namespace

}  // namespace shove::rabbitmq_test
