#pragma once

#include <shove/headers.hpp>

#include <amqp.h>

#include <string>

#include "pool.hpp"

namespace shove::rabbitmq_backend {

/// An AMQP value as a message shows it.
struct shown_value {
    header_value value;
    char letter = 0;  ///< The AMQP type, where `value` does not tell it; else 0.
};

/// Integers, floating numbers, texts, bytes, booleans and nothing become what they are; decimals, arrays, tables and
/// numbers that have no place here become `foreign`. Nothing is lost: `to_field` makes the same field of it.
/// @param scratch  Holds the bytes of a foreign value.
shown_value show_field(const amqp_field_value_t& field, std::string& scratch);

/// A header's value as an AMQP field, of the noted type if it fits. A foreign value that is no field, or too deep to be
/// sent, goes out as its bytes.
amqp_field_value_t to_field(const header_value& value, char letter, pool& memory);

}  // namespace shove::rabbitmq_backend
