// Messages of other clients: nothing is lost on their way through ours.

#include <gtest/gtest.h>

#include <string>

#include "field.hpp"
#include "foreign_properties.hpp"
#include "wire_names.hpp"
#include "wire_support.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;

/// The copy that goes out of a message that came.
std::unique_ptr<received> copy_of(const amqp_basic_properties_t& properties, const spi::history* past = nullptr,
                                  std::string_view user = {}) {
    return sent(read(properties).msg, past, {.room = 131'064, .user = user});
}

/// A table with every type, repeated names, names that are no text, and an empty one.
struct foreign_example {
    std::vector<amqp_field_value_t> inner{number('I', 7), bytes('x', "\xFF"), decimal(3, 1)};
    table_builder nested, table;

    foreign_example() {
        nested.add("list", list(inner)).add("", nothing());
        table.add("a", number('l', 1))
            .add("a", number('I', 1))
            .add("a", number('u', 1))
            .add("a", bytes('S', "one"))
            .add("t", number('t', 1))
            .add("b", number('b', 0xFF))
            .add("B", number('B', 0xFF))
            .add("s", number('s', 0xFFFF))
            .add("i", number('i', 0xFFFFFFFFu))
            .add("L", number('L', 5))
            .add("L big", number('L', ~std::uint64_t{0}))
            .add("T", number('T', 1'700'000'000))
            .add("f", single(0.5F))
            .add("d", floating(0.1))
            .add("D", decimal(2, 5))
            .add("no text \xFF", bytes('S', "\xFE"))
            .add("x", bytes('x', "bytes"))
            .add("", number('s', 3))
            .add("V", nothing())
            .add("F", nested.as_field())
            .add("A", list(inner))
            .add(std::string_view("\0;=", 3), number('B', 1))
            .add("x-shove-unknown", number('B', 2))
            .add("x-retry-count", bytes('S', "many"))
            .add("x-shove-key", number('t', 1))
            .add("x-message-id", bytes('S', ""));
    }
};

TEST(foreign_test, a_copy_has_the_same_table_of_headers) {
    foreign_example it;
    const auto original = it.table.properties();
    const auto first = copy_of(original);
    EXPECT_EQ(foreign_table(first->properties()), foreign_table(original));
    const auto second = copy_of(first->properties());
    EXPECT_EQ(encoded(second->properties()), encoded(first->properties()));
}

TEST(foreign_test, a_copy_with_history_has_them_too) {
    table_builder it;
    it.add("s", number('s', 3)).add("x-shove-last-error", number('B', 1)).add("x-retry-count", bytes('S', "many"));
    spi::history past;
    past.retries = 2;
    const auto copy = copy_of(it.properties(), &past);
    EXPECT_EQ(find_field(copy->properties().headers, "s")->kind, 's');
    // Of what bears our names, only what we do not write ourselves stays.
    EXPECT_EQ(find_field(copy->properties().headers, "x-shove-last-error")->kind, 'B');
    EXPECT_EQ(find_field(copy->properties().headers, "x-retry-count")->value.u32, 2u);
    EXPECT_EQ(copy->properties().headers.num_entries, 3);
    EXPECT_EQ(read(copy->properties()).past->retries, 2u);
}

amqp_basic_properties_t every_property() {
    amqp_basic_properties_t p{};
    p._flags = 0xFFFC;
    p.content_type = bytes_of("text/plain");
    p.content_encoding = bytes_of("gzip");
    p.delivery_mode = 1;
    p.priority = 9;
    p.correlation_id = bytes_of("\xFF correlation");
    p.reply_to = bytes_of("amq.rabbitmq.reply-to");
    p.expiration = bytes_of("60000");
    p.message_id = bytes_of("m-1");
    p.timestamp = 1'700'000'000;
    p.type = bytes_of("kind");
    p.user_id = bytes_of("guest");
    p.app_id = bytes_of("app");
    p.cluster_id = bytes_of("");
    return p;
}

TEST(foreign_test, properties_are_shown) {
    const auto made = read(every_property());
    const auto h = made.msg.headers();
    EXPECT_EQ(made.msg.id(), "m-1");
    EXPECT_EQ(made.msg.type(), "kind");
    EXPECT_EQ(made.msg.content_type(), "text/plain");
    EXPECT_EQ(made.msg.published_at(), wall_time(std::chrono::seconds(1'700'000'000)));
    EXPECT_EQ(h.text("x-shove-amqp-content-encoding"), "gzip");
    EXPECT_EQ(h.find("x-shove-amqp-priority"), header_value(std::int64_t{9}));
    EXPECT_EQ(h.find("x-shove-amqp-correlation-id")->type(), header_type::binary);
    EXPECT_EQ(h.text("x-shove-amqp-reply-to"), "amq.rabbitmq.reply-to");
    EXPECT_EQ(h.text("x-shove-amqp-expiration"), "60000");
    EXPECT_EQ(h.text("x-shove-amqp-user-id"), "guest");
    EXPECT_EQ(h.text("x-shove-amqp-app-id"), "app");
    EXPECT_EQ(h.size(), 8u);
    EXPECT_EQ(made.past, nullptr);
}

TEST(foreign_test, properties_become_properties_again) {
    const auto original = every_property();
    const auto copy = copy_of(original, nullptr, "guest");
    const auto& p = copy->properties();
    EXPECT_EQ(p._flags, 0xFFFCu & ~static_cast<unsigned>(AMQP_BASIC_EXPIRATION_FLAG));
    EXPECT_EQ(p.delivery_mode, 2);
    EXPECT_EQ(p.priority, 9);
    EXPECT_EQ(p.timestamp, original.timestamp);
    EXPECT_EQ(view_of(p.user_id), "guest");
    for (const auto member :
         {&amqp_basic_properties_t::content_type, &amqp_basic_properties_t::content_encoding,
          &amqp_basic_properties_t::correlation_id, &amqp_basic_properties_t::reply_to,
          &amqp_basic_properties_t::message_id, &amqp_basic_properties_t::type, &amqp_basic_properties_t::app_id}) {
        EXPECT_EQ(view_of(p.*member), view_of(original.*member));
    }
    EXPECT_EQ(view_of(find_field(p.headers, "x-shove-amqp-expiration")->value.bytes), "60000");
    EXPECT_EQ(find_field(p.headers, "x-shove-amqp-reply-to"), nullptr);
    EXPECT_EQ(encoded(copy_of(p, nullptr, "guest")->properties()), encoded(p));
}

TEST(foreign_test, the_user_of_another_connection_is_kept_as_a_header) {
    const auto copy = copy_of(every_property(), nullptr, "somebody");
    EXPECT_EQ(copy->properties()._flags & AMQP_BASIC_USER_ID_FLAG, 0u);
    EXPECT_EQ(view_of(find_field(copy->properties().headers, "x-shove-amqp-user-id")->value.bytes), "guest");
    const auto home = copy_of(copy->properties(), nullptr, "guest");
    EXPECT_EQ(view_of(home->properties().user_id), "guest");
}

TEST(foreign_test, properties_that_a_message_cannot_hold_survive) {
    amqp_basic_properties_t p{};
    p._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TYPE_FLAG |
               AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_HEADERS_FLAG;
    for (const std::uint64_t timestamp : {std::uint64_t{0}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
        p.timestamp = timestamp;
        const auto copy = copy_of(p);
        EXPECT_EQ(copy->properties()._flags & p._flags, p._flags & ~static_cast<unsigned>(AMQP_BASIC_HEADERS_FLAG));
        EXPECT_EQ(copy->properties().timestamp, timestamp);
        EXPECT_EQ(copy->properties().content_type.len, 0u);
    }
}

TEST(foreign_test, two_ids_stay_two) {
    table_builder it;
    it.add("x-message-id", bytes('S', "ours"));
    auto p = it.properties();
    p._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
    p.message_id = bytes_of("theirs");
    EXPECT_EQ(read(p).msg.id(), "ours");
    const auto copy = copy_of(p);
    EXPECT_EQ(view_of(copy->properties().message_id), "theirs");
    EXPECT_EQ(read(copy->properties()).msg.id(), "ours");
}

TEST(foreign_test, a_header_that_only_looks_like_a_property_changes_no_part_of_the_message) {
    table_builder it;
    it.add("x-shove-amqp-content-type", bytes('S', "forged"))
        .add("x-shove-amqp-type", bytes('S', "forged"))
        .add("x-shove-amqp-message-id", bytes('S', "forged"))
        .add("x-shove-amqp-timestamp", number('T', 5));
    const auto copy = copy_of(it.properties());
    EXPECT_EQ(foreign_table(copy->properties()), foreign_table(it.properties()));
    const auto made = read(copy->properties());
    EXPECT_EQ(made.msg.id(), "");
    EXPECT_EQ(made.msg.type(), "");
    EXPECT_EQ(made.msg.published_at(), wall_time{});
}

TEST(foreign_test, a_property_comes_before_a_header_that_bears_its_name) {
    table_builder it;
    it.add("x-shove-amqp-reply-to", bytes('S', "forged"));
    auto p = it.properties();
    p._flags |= AMQP_BASIC_REPLY_TO_FLAG;
    p.reply_to = bytes_of("real");
    const auto copy = copy_of(p);
    EXPECT_EQ(view_of(copy->properties().reply_to), "real");
    EXPECT_EQ(foreign_table(copy->properties()), foreign_table(p));
}

TEST(foreign_test, a_copy_does_not_go_where_the_original_was_copied_to) {
    std::vector<amqp_field_value_t> elsewhere{bytes('S', "audit")};
    table_builder it;
    it.add("CC", list(elsewhere));
    EXPECT_TRUE(read(it.properties()).msg.headers().find("CC").has_value());
    const auto copy = copy_of(it.properties());
    EXPECT_EQ(find_field(copy->properties().headers, "CC"), nullptr);
    EXPECT_EQ(find_field(copy->properties().headers, "x-shove-amqp-kept-CC")->kind, 'A');
    EXPECT_TRUE(read(copy->properties()).msg.headers().find("CC").has_value());
    EXPECT_EQ(encoded(copy_of(copy->properties())->properties()), encoded(copy->properties()));
}

TEST(foreign_test, values_too_deep_to_be_sent_keep_their_bytes) {
    std::vector<amqp_field_value_t> levels(1000, number('B', 1));
    for (std::size_t i = 1; i < levels.size(); ++i) {
        levels[i].kind = AMQP_FIELD_KIND_ARRAY;
        levels[i].value.array = {1, &levels[i - 1]};
    }
    table_builder it;
    it.add("deep", levels.back());
    const auto made = read(it.properties());
    const auto copy = copy_of(it.properties());
    const auto* field = find_field(copy->properties().headers, "deep");
    EXPECT_EQ(field->kind, 'x');
    EXPECT_EQ(view_of(field->value.bytes), made.msg.headers().find("deep")->bytes());
    EXPECT_EQ(encoded(copy_of(copy->properties())->properties()), encoded(copy->properties()));
}

TEST(foreign_test, types_hold_when_somebody_changed_the_headers) {
    foreign_example it;
    const auto msg = read(it.table.properties()).msg;
    headers changed(msg.headers());
    changed.remove("a").remove("t").add("new", std::int64_t{1});
    id_buffer buffer;
    auto parts = msg.parts(buffer);
    parts.headers = changed;
    const auto copy = sent(message::make(parts));
    const auto kind = [&](std::string_view name) {
        return static_cast<char>(find_field(copy->properties().headers, name)->kind);
    };
    for (const auto* name : {"b", "B", "s", "i", "L", "T", "f", "d", "D", "x", "V", "F", "A"})
        EXPECT_EQ(kind(name), *name);
    EXPECT_EQ(kind("new"), 'l');
    EXPECT_EQ(kind("no text \xFF"), 'S');
}

TEST(foreign_test, forged_notes_of_types_are_harmless) {
    using namespace std::string_literals;
    for (const auto& notes : {""s, "b"s, "b\0\0\xFFx"s, "b\0\0\1n"s, "b\0\0\1nb\0\0\1n"s, "\0\0\0\0"s, "f\0\1\1n"s}) {
        headers mine{{"n", std::int64_t{5}}, {"m", "text"}};
        mine.add("x-shove-amqp-types", std::as_bytes(std::span(notes)));
        message_parts parts;
        parts.headers = mine;
        const auto copy = sent(message::make(parts));
        EXPECT_EQ(integer_of(*find_field(copy->properties().headers, "n")), 5);
        EXPECT_EQ(find_field(copy->properties().headers, "m")->kind, 'S');
        EXPECT_EQ(copy->properties().headers.num_entries, 2);
    }
    table_builder it;
    it.add("x-shove-amqp-types", bytes('x', "b")).add("n", number('u', 1));
    EXPECT_EQ(find_field(copy_of(it.properties())->properties().headers, "n")->kind, 'u');
}

TEST(foreign_test, a_foreign_value_that_is_none_goes_out_as_bytes) {
    headers mine;
    mine.add("odd", header_value::foreign("not AMQP"));
    message_parts parts;
    parts.headers = mine;
    const auto copy = sent(message::make(parts));
    EXPECT_EQ(find_field(copy->properties().headers, "odd")->kind, 'x');
    EXPECT_EQ(view_of(find_field(copy->properties().headers, "odd")->value.bytes), "not AMQP");
}

}  // namespace

}  // namespace shove::rabbitmq_test
