#include <shove/kafka.hpp>
#include <shove/spi/server_url.hpp>

#include <string>
#include <utility>

#include "check_config.hpp"
#include "url_options.hpp"

namespace shove {

namespace {

constexpr spi::url_words words{"Kafka URL: ", "kafka://host:9092,other-host, or kafkas:// for TLS",
                               "user, password and options"};

error wrong(const std::string& text) {
    return {errc::invalid_argument, std::string(words.prefix) + text};
}

}  // namespace

result<kafka::config> kafka::parse(std::string_view url) {
    auto parts = spi::read_server_url(url, words);
    if (!parts) return parts.error();
    config made;
    made.tls = parts->scheme == "kafkas";
    if (!made.tls && parts->scheme != "kafka") return wrong("it begins with kafka:// or kafkas://");
    if (parts->path.size() > 1) return wrong("nothing comes between the servers and the options; queues are topics");
    if (parts->login) {
        made.sasl = sasl_mechanism::plain;
        made.user = std::move(parts->login->user);
        made.password = std::move(parts->login->password);
    }
    if (!parts->servers.empty()) made.servers.clear();
    for (auto& server : parts->servers)
        made.servers.push_back({std::move(server.host), server.port});
    if (auto cause = kafka_backend::set_options(made, parts->query)) return cause;
    if (auto cause = kafka_backend::check_config(made)) return cause;
    return made;
}

}  // namespace shove
