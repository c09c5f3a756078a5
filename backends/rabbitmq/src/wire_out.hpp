#pragma once

#include <shove/error.hpp>
#include <shove/message.hpp>
#include <shove/spi/delivery.hpp>

#include <amqp.h>
#include <amqp_framing.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "content_header.hpp"
#include "deaths.hpp"
#include "foreign_properties.hpp"
#include "pool.hpp"

namespace shove::rabbitmq_backend {

/// What a message's properties depend on beside the message.
struct outgoing_context {
    std::size_t room = content_header_room(4096);  ///< `content_header_room` of the connection's frame size.
    std::string_view user{};                       ///< The connection's user: the only `user-id` that may be sent.
    /// The driver's own notes; names begin with `wire_names::driver_prefix`. They are not part of the message.
    std::span<const header> notes{};
};

/// Makes the AMQP properties of messages that go out. One object serves many messages, one after another, and then
/// allocates nothing (but for nested values of other clients).
/// @par Thread safety  None.
class properties_writer {
public:
    /// The properties of a message with its history; null: it has none. They point into the message, the history, the
    /// context and this, and are good until the next call.
    ///
    /// What does not fit into `room` is cut: first the texts of the noted errors get shorter, then they go.
    /// @par Errors  `errc::too_large` where even that does not do, or a header's name has more than 255 bytes; the
    ///              detail names the sizes.
    result<const amqp_basic_properties_t*> write(const message& msg, const spi::history* past,
                                                 const outgoing_context& context);

private:
    void add(std::string_view name, const amqp_field_value_t& field);
    void add_time(std::string_view name, wall_time when);
    void add_count(std::string_view name, std::uint32_t count);
    void add_error_text(std::string_view name, std::string_view text);
    void add_parts(const message& msg);
    void add_history(const spi::history& past);
    error add_headers(const message& msg, const outgoing_context& context);
    void add_header(const header& from, char letter, const restore_rules& rules);
    bool is_written(std::string_view name) const noexcept;
    void set_properties(const message& msg);
    void complete_properties(const message& msg);
    void set_text(amqp_flags_t flag, amqp_bytes_t& into, std::string_view text) noexcept;
    void set_headers() noexcept;
    error fit(std::size_t room);
    void shorten(std::size_t over);

    pool memory_;
    death_writer death_;
    id_buffer id_{};
    std::vector<amqp_table_entry_t> entries_;  ///< Ours first, then the driver's, then the message's.
    std::size_t own_ = 0;
    std::size_t error_texts_ = 0;  ///< The last of the own entries that may be cut.
    amqp_basic_properties_t properties_{};
};

/// The body, as the client library takes it; it points into the message.
amqp_bytes_t body_of(const message& msg) noexcept;

}  // namespace shove::rabbitmq_backend
