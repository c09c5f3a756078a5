#pragma once

#include "rabbitmq_server.hpp"

#include <shove/rabbitmq.hpp>
#include <shove/testkit/backend_factory.hpp>

#include <memory>
#include <string>
#include <utility>

namespace shove::testkit {

/// A virtual host of its own on the server that tests share.
class rabbitmq_store final : public tagged_store<rabbitmq> {
public:
    rabbitmq_store(std::unique_ptr<rabbitmq_test::vhost> host, const std::string& url)
        : tagged_store<rabbitmq>(rabbitmq::parse(url).value(), url), host_(std::move(host)) {}

private:
    std::unique_ptr<rabbitmq_test::vhost> host_;
};

/// Where brokers find a virtual host, and the management interface.
/// @param queues  `quorum` or `classic`.
inline std::string url_of(const rabbitmq_test::rabbitmq_server& server, const rabbitmq_test::vhost& host,
                          const std::string& queues) {
    return host.url() + "?queues=" + queues + "&management=" + rabbitmq_test::percent_encoded(server.management_url());
}

/// What the suite needs to know of RabbitMQ.
/// @param queues  `quorum` or `classic`.
inline backend_factory rabbitmq_factory(const std::string& name, const std::string& queues) {
    backend_factory made;
    made.name = name;
    made.capabilities = rabbitmq::capabilities;
    made.unseen = std::chrono::milliseconds(150);
    made.tells_age = false;
    auto server = std::make_shared<std::unique_ptr<rabbitmq_test::rabbitmq_server>>();
    made.make_store = [server, queues] {
        if (!*server) *server = std::make_unique<rabbitmq_test::rabbitmq_server>();
        auto host = std::make_unique<rabbitmq_test::vhost>(**server);
        const auto url = url_of(**server, *host, queues);
        return std::make_unique<rabbitmq_store>(std::move(host), url);
    };
    made.attach = [](const std::string& location) {
        return std::make_unique<tagged_store<rabbitmq>>(rabbitmq::parse(location).value(), location);
    };
    return made;
}

}  // namespace shove::testkit
