#pragma once

#include "management_server.hpp"

#include <memory>
#include <string>

namespace shove::rabbitmq_test {

/// A certificate authority that is made for one test.
class authority {
public:
    authority();
    authority(const authority&) = delete;
    authority& operator=(const authority&) = delete;
    ~authority();

    /// Its own certificate, PEM.
    std::string certificate() const;
    /// Key and certificate of a server.
    /// @param names  As OpenSSL writes them: `DNS:localhost,IP:127.0.0.1`.
    identity issue(const std::string& names) const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace shove::rabbitmq_test
