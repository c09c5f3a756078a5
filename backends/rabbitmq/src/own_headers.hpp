#pragma once

#include <shove/detail/past.hpp>
#include <shove/message.hpp>
#include <shove/spi/delivery.hpp>

#include <amqp.h>

#include <bitset>
#include <cstddef>
#include <optional>
#include <string_view>

namespace shove::rabbitmq_backend {

/// The headers of ours on the wire: which they are, and what they held in a message that came.
class own_headers {
public:
    static constexpr std::size_t count = 14;

    /// Reads one header; of several of one name, the first that makes sense counts.
    /// @return  False if its name is none of ours, or for a value that makes no sense there: such a header is one of
    /// the
    ///          other client's, and stays in the message.
    bool take(std::string_view name, const amqp_field_value_t& value);

    std::optional<std::string_view> id;
    std::optional<std::string_view> key;
    std::optional<wall_time> published_at;
    wall_time expires_at{};
    spi::history past;

private:
    std::bitset<count> taken_;
};

using detail::is_blank;
using detail::is_dead;

}  // namespace shove::rabbitmq_backend
