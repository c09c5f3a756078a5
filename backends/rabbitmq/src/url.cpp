#include <shove/rabbitmq.hpp>
#include <shove/spi/server_url.hpp>
#include <shove/spi/url_text.hpp>

#include <string>
#include <utility>

#include "check_config.hpp"
#include "url_options.hpp"

namespace shove {

namespace rabbitmq_backend {

namespace {

constexpr spi::url_words words{"RabbitMQ URL: ", "amqp://user:password@host:5672/virtual-host, or amqps:// for TLS",
                               "user, password, virtual host and options"};

error wrong(const std::string& text) {
    return {errc::invalid_argument, std::string(words.prefix) + text};
}

error set_virtual_host(rabbitmq::config& into, std::string_view path) {
    if (path.size() <= 1) return {};
    if (path.find('/', 1) != path.npos) return wrong("write %2F for a slash in the virtual host");
    auto name = spi::percent_decoded(path.substr(1));
    if (!name) return wrong("a % in the virtual host must be followed by two hexadecimal digits, not 00");
    into.virtual_host = std::move(*name);
    return {};
}

}  // namespace

}  // namespace rabbitmq_backend

result<rabbitmq::config> rabbitmq::parse(std::string_view url) {
    using namespace rabbitmq_backend;
    auto parts = spi::read_server_url(url, words);
    if (!parts) return parts.error();
    config made;
    made.tls = parts->scheme == "amqps";
    if (!made.tls && parts->scheme != "amqp") return wrong("it begins with amqp:// or amqps://");
    if (parts->login) {
        made.user = std::move(parts->login->user);
        made.password = std::move(parts->login->password);
    }
    if (!parts->servers.empty()) made.servers.clear();
    for (auto& server : parts->servers)
        made.servers.push_back({std::move(server.host), server.port});
    if (auto cause = set_virtual_host(made, parts->path)) return cause;
    if (auto cause = set_options(made, parts->query)) return cause;
    if (auto cause = check_config(made)) return cause;
    return made;
}

}  // namespace shove
