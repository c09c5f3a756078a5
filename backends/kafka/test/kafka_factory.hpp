#pragma once

#include "kafka_server.hpp"

#include <shove/kafka.hpp>
#include <shove/testkit/backend_factory.hpp>

#include <memory>
#include <string>
#include <utility>

namespace shove::testkit {

/// A prefix of its own on the server that tests share.
class kafka_store final : public tagged_store<kafka> {
public:
    kafka_store(std::unique_ptr<kafka_test::own_topics> topics, const std::string& url)
        : tagged_store<kafka>(kafka::parse(url).value(), url), topics_(std::move(topics)) {}

private:
    std::unique_ptr<kafka_test::own_topics> topics_;
};

/// What the suite needs to know of Kafka.
/// @param options  More options of the URL: `&transactional=true`.
inline backend_factory kafka_factory(const std::string& name, const std::string& options = {}) {
    backend_factory made;
    made.name = name;
    made.capabilities = kafka::capabilities;
    made.tells_age = false;
    made.unseen = std::chrono::milliseconds(150);
    auto server = std::make_shared<std::unique_ptr<kafka_test::kafka_server>>();
    made.make_store = [server, options] {
        if (!*server) *server = std::make_unique<kafka_test::kafka_server>();
        auto topics = std::make_unique<kafka_test::own_topics>(**server);
        const auto url = (*server)->url() + "?partitions=1&session_timeout=6s&prefix=" + topics->prefix() + options;
        return std::make_unique<kafka_store>(std::move(topics), url);
    };
    made.attach = [](const std::string& location) {
        return std::make_unique<tagged_store<kafka>>(kafka::parse(location).value(), location);
    };
    return made;
}

}  // namespace shove::testkit
