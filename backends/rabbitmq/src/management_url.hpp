#pragma once

#include <shove/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace shove::rabbitmq_backend {

/// Where the management API is.
struct management_address {
    bool encrypted = false;  ///< https.
    std::string host;        ///< Without brackets.
    std::uint16_t port = 0;  ///< As written, else 80 or 443.
    std::string path;        ///< What stands before `/api`, without a slash at its end; mostly empty.
};

/// Reads `http://host:15672` or `https://host/prefix`.
/// @return  `errc::invalid_argument` for anything else, user information, a query or a fragment too. The detail does
/// not
///          show the text: it may hold a password.
result<management_address> read_management_url(std::string_view url);

}  // namespace shove::rabbitmq_backend
