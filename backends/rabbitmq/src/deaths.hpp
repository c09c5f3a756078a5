#pragma once

#include <shove/spi/delivery.hpp>

#include <amqp.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shove::rabbitmq_backend {

/// What the broker noted in `x-death` when it dead-lettered a message.
struct broker_death {
    std::string_view reason;
    std::string_view queue;
    std::uint32_t count = 0;
    wall_time when{};  ///< To the second; the epoch: not told.
};

/// The latest death in an `x-death` array; nothing if it has none.
std::optional<broker_death> latest_death(const amqp_field_value_t& x_death);

/// The routing key with which a message once came to `exchange`, if one of its deaths tells.
std::optional<std::string_view> routing_key_at(const amqp_field_value_t& x_death, std::string_view exchange);

/// Makes the `x-death` array of a dead letter that we publish ourselves, in the broker's form: for clients that read
/// no other. The reason is `expired` or `rejected`, as the broker would have it.
class death_writer {
public:
    death_writer() = default;
    death_writer(const death_writer&) = delete;
    death_writer& operator=(const death_writer&) = delete;

    /// A field that points into this and into `past`; good until the next call.
    amqp_field_value_t write(const spi::history& past) noexcept;

private:
    amqp_field_value_t routing_key_{};
    std::array<amqp_table_entry_t, 6> entries_{};
    amqp_field_value_t death_{};
};

}  // namespace shove::rabbitmq_backend
