#pragma once

#include <shove/headers.hpp>

#include <amqp.h>
#include <amqp_framing.h>

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

/// Makes such a header the property again that it was. Not these: `expiration`, which would end the copy, and a
/// `user-id` other than `user`, which the broker refuses; they stay headers.
/// @return  False for any other header, and where the property is set already.
bool restore_property(const header& from, std::string_view user, amqp_basic_properties_t& into);

}  // namespace shove::rabbitmq_backend
