#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shove::rabbitmq_test {

/// Every byte that is not a letter, a digit or one of `-_.~`, as `%XX`: a name as a part of a URL's path.
std::string percent_encoded(std::string_view name);

/// An address of the form `scheme://user:password@host:port`.
struct address {
    explicit address(std::string_view url);
    std::string scheme;
    std::string credentials;
    std::string host;
    std::uint16_t port = 0;
    /// The same with another port and a virtual host.
    std::string url(std::string_view vhost, std::uint16_t other_port) const;
};

/// An answer of the management interface.
struct answer {
    unsigned status = 0;
    std::string body;
};

/// One call of RabbitMQ's HTTP interface: `GET`, `/api/overview`. Blocks, for 15 seconds at most.
/// @par Errors  `testkit::broker_error`: no answer. A status that says failure is an answer.
answer call_management(const address& at, std::string_view method, const std::string& path, std::string body = {});

}  // namespace shove::rabbitmq_test
