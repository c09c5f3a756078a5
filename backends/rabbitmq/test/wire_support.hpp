#pragma once

#include <amqp.h>
#include <amqp_framing.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pool.hpp"
#include "wire_in.hpp"
#include "wire_out.hpp"

namespace shove::rabbitmq_test {

/// Properties as bytes, by the client library's own encoder.
std::string encoded(const amqp_basic_properties_t& properties);

/// Properties that were read from bytes by the client library's own decoder, as a consumer gets them.
class received {
public:
    explicit received(std::string bytes);
    const amqp_basic_properties_t& properties() const noexcept { return *properties_; }

private:
    std::string bytes_;
    rabbitmq_backend::pool memory_;
    amqp_basic_properties_t* properties_ = nullptr;
};

/// A table as bytes, by the client library's own encoder.
std::string encoded(const amqp_table_t& table);

/// Builds a table that another client may have sent.
class table_builder {
public:
    table_builder& add(std::string_view name, const amqp_field_value_t& field);
    amqp_table_t table() noexcept;
    /// Properties that hold nothing but this table.
    amqp_basic_properties_t properties() noexcept;
    amqp_field_value_t as_field() noexcept;

private:
    std::vector<amqp_table_entry_t> entries_;
};

/// A field of a kind whose value is an unsigned number of 64 bits or less, or a boolean.
amqp_field_value_t number(char kind, std::uint64_t value);
amqp_field_value_t single(float value);
amqp_field_value_t floating(double value);
amqp_field_value_t bytes(char kind, std::string_view value);
amqp_field_value_t decimal(std::uint8_t decimals, std::uint32_t value);
amqp_field_value_t list(std::vector<amqp_field_value_t>& entries);
amqp_field_value_t nothing();

inline const rabbitmq_backend::arrival from_queue{"", "orders", "", false};
inline const rabbitmq_backend::arrival from_dead_letters{"", "orders-dlq", "", true};

/// What a reader gets of properties that went over the wire.
rabbitmq_backend::incoming read(const amqp_basic_properties_t& properties,
                                const rabbitmq_backend::arrival& how = from_queue, std::string_view body = "body");

/// The properties of a message as they arrive.
std::unique_ptr<received> sent(const message& msg, const spi::history* past = nullptr,
                               const rabbitmq_backend::outgoing_context& context = {.room = 131'064});

/// There and back: what a reader gets of a message that was sent.
rabbitmq_backend::incoming over_the_wire(const message& msg, const spi::history* past = nullptr,
                                         const rabbitmq_backend::arrival& how = from_queue);

/// The table's headers that are not ours, encoded, in order.
std::string foreign_table(const amqp_basic_properties_t& properties);

/// True if all parts are the same.
bool same(const message& a, const message& b);
bool same(const spi::history* a, const spi::history* b);

}  // namespace shove::rabbitmq_test
