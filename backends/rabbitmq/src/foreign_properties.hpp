#pragma once

#include <shove/headers.hpp>

#include <amqp.h>
#include <amqp_framing.h>

#include <cstdint>
#include <string_view>

namespace shove::rabbitmq_backend {

/// Which of the properties that a message has a place for it could take; the others become headers.
struct taken_properties {
    bool message_id = false;
    bool content_type = false;
    bool type = false;
    bool timestamp = false;
};

/// Appends the properties of another client as headers `x-shove-amqp-NAME`, such as `x-shove-amqp-reply-to`: all but
/// the delivery mode, and those in `taken`.
void show_properties(const amqp_basic_properties_t& from, const taken_properties& taken, headers& into);

/// True if a message can hold this timestamp, in seconds, as the time of its publishing; 0 means none.
bool is_time_of_publishing(std::uint64_t timestamp) noexcept;

/// What decides whether a header may become a property.
struct restore_rules {
    std::string_view user;  ///< The connection's: the only one that the broker takes as `user-id`.
    bool has_id = false;    ///< The message has an id of its own.
    bool has_time = false;  ///< It has a time of publishing of its own.
};

/// Makes such a header the property again that it was. Not these: `expiration`, which would end the copy; a `user-id`
/// other than `user`, which the broker refuses; and what a reader would take for a part of the message that it has not.
/// They stay headers.
/// @return  False for any other header, and where the property is set already.
bool restore_property(const header& from, const restore_rules& rules, amqp_basic_properties_t& into);

}  // namespace shove::rabbitmq_backend
