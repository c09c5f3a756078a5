#pragma once

#include <shove/error.hpp>

#include <string>
#include <string_view>

namespace shove::rabbitmq_backend {

/// A base URL of the management API, taken apart.
struct management_url {
    bool tls = false;
    std::string host;    ///< A name or an address, without the brackets of IPv6.
    std::string port;    ///< Digits.
    std::string prefix;  ///< Path before `/api`: empty, or `/like/this`.

    /// `host:port`, for the `Host` header.
    std::string authority() const;
    /// `http://host:port`, for people.
    std::string origin() const;
};

/// Takes a base URL apart.
/// @par Errors  `errc::invalid_argument`, with the remedy; the URL is not in the text.
result<management_url> parse_management_url(std::string_view url);

/// `a/b c` as `a%2Fb%20c`: all but letters, digits and `-._~` is encoded.
std::string percent_encoded(std::string_view segment);

}  // namespace shove::rabbitmq_backend
