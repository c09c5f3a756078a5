// Messages of ours, there and back.

#include <gtest/gtest.h>

#include <string>

#include "field.hpp"
#include "wire_names.hpp"
#include "wire_support.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;
using namespace std::chrono_literals;

const headers every_type{{"flag", true},
                         {"whole", std::int64_t{-5}},
                         {"real", 0.25},
                         {"text", "gr\xC3\xBC\xC3\x9F"},
                         {"bytes", std::as_bytes(std::span("\0\xFF", 2))},
                         {"none", header_value()},
                         {"text", "again"}};

message full_message() {
    message_parts parts;
    parts.id = "0190a8f0-0000-7000-8000-0123456789ab";
    parts.key = "customer 7";
    parts.content_type = "application/json";
    parts.type = "order.created";
    parts.payload = std::as_bytes(std::span("{}", 2));
    parts.headers = every_type;
    parts.published_at = wall_time(1'700'000'000'123'456us);
    parts.expires_at = wall_time(1'700'000'060'000'001us);
    return message::make(parts);
}

spi::history failed_history() {
    spi::history past;
    past.retries = 3;
    past.crashes = 1;
    past.first_error = "no \xE2\x82\xAC left";
    past.last_error = "still none";
    past.first_failed_at = wall_time(1'700'000'001'000'001us);
    past.last_failed_at = wall_time(1'700'000'002'000'002us);
    return past;
}

spi::history dead_history() {
    auto past = failed_history();
    past.death_reason = "max_retries_exceeded";
    past.original_queue = "orders";
    past.death_count = 2;
    past.dead_at = wall_time(1'700'000'003'999'999us);
    return past;
}

const amqp_field_value_t& header_of(const received& it, std::string_view name) {
    const auto* found = find_field(it.properties().headers, name);
    if (found == nullptr) throw std::runtime_error("no header " + std::string(name));
    return *found;
}

TEST(wire_test, a_message_comes_as_it_went) {
    const auto msg = full_message();
    const auto made = over_the_wire(msg);
    EXPECT_TRUE(same(made.msg, msg));
    EXPECT_EQ(made.past, nullptr);
}

TEST(wire_test, a_bare_message_stays_bare) {
    const auto msg = message::make(message_parts{});
    const auto it = sent(msg);
    EXPECT_EQ(it->properties()._flags, static_cast<amqp_flags_t>(AMQP_BASIC_DELIVERY_MODE_FLAG));
    EXPECT_TRUE(same(over_the_wire(msg).msg, msg));
}

TEST(wire_test, other_clients_find_what_they_look_for) {
    const auto it = sent(full_message());
    const auto& p = it->properties();
    EXPECT_EQ(p.delivery_mode, 2);
    EXPECT_EQ(view_of(p.content_type), "application/json");
    EXPECT_EQ(view_of(p.message_id), "0190a8f0-0000-7000-8000-0123456789ab");
    EXPECT_EQ(view_of(p.type), "order.created");
    EXPECT_EQ(p.timestamp, 1'700'000'000u);
    EXPECT_EQ(p._flags & AMQP_BASIC_EXPIRATION_FLAG, 0u);
    const auto& id = header_of(*it, "x-message-id");
    EXPECT_EQ(id.kind, 'S');
    EXPECT_EQ(view_of(id.value.bytes), view_of(p.message_id));
    EXPECT_EQ(header_of(*it, "x-shove-key").kind, 'S');
    EXPECT_EQ(header_of(*it, "x-shove-published-at").value.i64, 1'700'000'000'123'456);
    EXPECT_EQ(header_of(*it, "x-shove-expires-at").kind, 'l');
    const std::string kinds = {
        static_cast<char>(header_of(*it, "flag").kind),  static_cast<char>(header_of(*it, "whole").kind),
        static_cast<char>(header_of(*it, "real").kind),  static_cast<char>(header_of(*it, "text").kind),
        static_cast<char>(header_of(*it, "bytes").kind), static_cast<char>(header_of(*it, "none").kind)};
    EXPECT_EQ(kinds, "tldSxV");
}

TEST(wire_test, keys_and_ids_may_be_any_bytes) {
    message_parts parts;
    parts.id = "\xFF id";
    parts.key = std::string_view("\0\xFE", 2);
    const auto msg = message::make(parts);
    EXPECT_EQ(header_of(*sent(msg), "x-shove-key").kind, 'x');
    EXPECT_TRUE(same(over_the_wire(msg).msg, msg));
    parts.key = "";
    EXPECT_EQ(over_the_wire(message::make(parts)).msg.key(), "");
}

TEST(wire_test, moments_before_1970_come_back_too) {
    message_parts parts;
    parts.published_at = wall_time(-1us);
    parts.expires_at = wall_time(wall_time::duration::min());
    const auto msg = message::make(parts);
    EXPECT_EQ(sent(msg)->properties()._flags & AMQP_BASIC_TIMESTAMP_FLAG, 0u);
    EXPECT_TRUE(same(over_the_wire(msg).msg, msg));
    parts.published_at = wall_time(1us);
    EXPECT_TRUE(same(over_the_wire(message::make(parts)).msg, message::make(parts)));
}

TEST(wire_test, history_travels_with_the_message) {
    const auto msg = full_message();
    const auto past = failed_history();
    const auto made = over_the_wire(msg, &past);
    EXPECT_TRUE(same(made.msg, msg));
    EXPECT_TRUE(same(made.past.get(), &past));
    const auto it = sent(msg, &past);
    EXPECT_EQ(header_of(*it, "x-retry-count").kind, 'i');
    EXPECT_EQ(header_of(*it, "x-retry-count").value.u32, 3u);
    EXPECT_EQ(find_field(it->properties().headers, "x-death"), nullptr);
}

TEST(wire_test, a_dead_letter_tells_its_death_to_everybody) {
    const auto msg = full_message();
    const auto past = dead_history();
    const auto made = over_the_wire(msg, &past, from_dead_letters);
    EXPECT_TRUE(same(made.msg, msg));
    EXPECT_TRUE(same(made.past.get(), &past));

    const auto it = sent(msg, &past);
    const auto& deaths = header_of(*it, "x-death");
    ASSERT_EQ(deaths.kind, 'A');
    ASSERT_EQ(deaths.value.array.num_entries, 1);
    const auto& death = deaths.value.array.entries[0].value.table;
    EXPECT_EQ(view_of(find_field(death, "reason")->value.bytes), "rejected");
    EXPECT_EQ(view_of(find_field(death, "queue")->value.bytes), "orders");
    EXPECT_EQ(view_of(find_field(death, "exchange")->value.bytes), "");
    EXPECT_EQ(find_field(death, "count")->kind, 'l');
    EXPECT_EQ(find_field(death, "count")->value.i64, 2);
    EXPECT_EQ(find_field(death, "time")->kind, 'T');
    EXPECT_EQ(find_field(death, "time")->value.u64, 1'700'000'003u);
    EXPECT_EQ(find_field(death, "routing-keys")->kind, 'A');
}

TEST(wire_test, an_expired_message_is_called_so) {
    auto past = dead_history();
    past.death_reason = "expired";
    past.dead_at = {};
    const auto it = sent(full_message(), &past);
    const auto& death = header_of(*it, "x-death").value.array.entries[0].value.table;
    EXPECT_EQ(view_of(find_field(death, "reason")->value.bytes), "expired");
    EXPECT_EQ(find_field(death, "time"), nullptr);
}

TEST(wire_test, outside_a_dead_letter_queue_there_is_no_death) {
    const auto past = dead_history();
    const auto made = over_the_wire(full_message(), &past);
    const auto expected = failed_history();
    EXPECT_TRUE(same(made.past.get(), &expected));
}

TEST(wire_test, notes_of_the_driver_are_not_part_of_the_message) {
    const auto msg = full_message();
    const header notes[] = {{"x-shove-driver-held", std::int64_t{1}}};
    const auto it = sent(msg, nullptr, {.room = 131'064, .notes = notes});
    EXPECT_EQ(header_of(*it, "x-shove-driver-held").value.i64, 1);
    EXPECT_TRUE(same(read(it->properties(), from_queue, "{}").msg, msg));
}

TEST(wire_test, a_body_can_stay_where_it_is) {
    const auto body = std::make_shared<const std::string>("some bytes");
    const auto made = read_message({}, std::as_bytes(std::span(*body)), from_queue, body);
    EXPECT_EQ(reinterpret_cast<const char*>(made.msg.payload().data()), body->data());
    EXPECT_EQ(body.use_count(), 2);
    EXPECT_EQ(view_of(body_of(made.msg)), "some bytes");
}

TEST(wire_test, names_that_the_broker_obeys_are_renamed_on_the_way) {
    message_parts parts;
    const headers mine{{"CC", "elsewhere"}, {"BCC", "hidden"}, {"x-delivery-count", std::int64_t{9}}, {"cc", "fine"}};
    parts.headers = mine;
    const auto msg = message::make(parts);
    const auto it = sent(msg);
    EXPECT_EQ(find_field(it->properties().headers, "CC"), nullptr);
    EXPECT_EQ(find_field(it->properties().headers, "BCC"), nullptr);
    EXPECT_EQ(find_field(it->properties().headers, "x-delivery-count"), nullptr);
    EXPECT_NE(find_field(it->properties().headers, "cc"), nullptr);
    EXPECT_TRUE(same(over_the_wire(msg).msg, msg));
}

TEST(wire_test, a_name_too_long_for_the_wire_is_refused) {
    message_parts parts;
    headers mine;
    mine.add(std::string(255, 'n'), 1);
    parts.headers = mine;
    EXPECT_TRUE(same(over_the_wire(message::make(parts)).msg, message::make(parts)));
    mine.add(std::string(256, 'n'), 1);
    parts.headers = mine;
    properties_writer writer;
    const auto made = writer.write(message::make(parts), nullptr, {.room = 131'064});
    ASSERT_TRUE(made.has_error());
    EXPECT_EQ(made.error(), errc::too_large);
    EXPECT_NE(made.error().detail.find("256"), std::string::npos);
}

TEST(wire_test, the_key_is_the_routing_key_only_at_its_exchange) {
    const auto key = [](const amqp_basic_properties_t& p, const arrival& how) {
        const auto made = read(p, how);
        return made.msg.key() ? std::optional(std::string(*made.msg.key())) : std::nullopt;
    };
    amqp_basic_properties_t none{};
    EXPECT_EQ(key(none, {"", "orders", "", false}), std::nullopt);
    EXPECT_EQ(key(none, {"", "orders-seq-1", "orders-seq-hash", false}), std::nullopt);
    EXPECT_EQ(key(none, {"orders-seq-hash", "k", "orders-seq-hash", false}), "k");
    table_builder own;
    own.add("x-shove-key", bytes('S', "mine"));
    EXPECT_EQ(key(own.properties(), {"orders-seq-hash", "k", "orders-seq-hash", false}), "mine");

    std::vector<amqp_field_value_t> keys{bytes('S', "from the death")};
    table_builder hold, death;
    hold.add("exchange", bytes('S', "")).add("routing-keys", list(keys));
    death.add("exchange", bytes('S', "orders-seq-hash")).add("routing-keys", list(keys));
    std::vector<amqp_field_value_t> deaths{hold.as_field(), death.as_field()};
    table_builder dead;
    dead.add("x-death", list(deaths));
    EXPECT_EQ(key(dead.properties(), {"", "orders-dlq", "orders-seq-hash", true}), "from the death");
    EXPECT_EQ(key(dead.properties(), {"", "orders-dlq", "", true}), std::nullopt);
}

}  // namespace

}  // namespace shove::rabbitmq_test
