#include <shove/rabbitmq.hpp>
#include <shove/testkit/conformance.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace {
using namespace shove::testkit;
std::string env(const char* n, const char* d) { const char* v = std::getenv(n); return v ? v : d; }
shove::rabbitmq::queue_type kind() {
    return env("SHOVE_Q", "classic") == "quorum" ? shove::rabbitmq::queue_type::quorum : shove::rabbitmq::queue_type::classic;
}
shove::rabbitmq::config config_for(const std::string& vhost) {
    auto made = shove::rabbitmq::parse(env("SHOVE_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:20672")).value();
    made.virtual_host = vhost;
    made.queues = kind();
    return made;
}
void http(const std::string& method, const std::string& path) {
    const auto url = env("SHOVE_TEST_RABBITMQ_MANAGEMENT", "http://127.0.0.1:20673") + "/api/" + path;
    const auto cmd = "curl -s -o /dev/null -u guest:guest -H 'content-type: application/json' -X " + method + " -d '{}' '" + url + "'";
    if (std::system(cmd.c_str()) != 0) throw std::runtime_error(cmd);
}
class store final : public tagged_store<shove::rabbitmq> {
public:
    explicit store(std::string vhost) : tagged_store<shove::rabbitmq>(config_for(vhost), vhost), vhost_(vhost) {}
    ~store() override { http("DELETE", "vhosts/" + vhost_); }
private:
    std::string vhost_;
};
backend_factory factory() {
    backend_factory made;
    made.name = "rabbitmq";
    made.capabilities = shove::rabbitmq::capabilities;
    made.make_store = [] {
        static std::atomic<int> n{0};
        const auto vhost = "c" + std::to_string(::getpid()) + "-" + std::to_string(++n);
        http("PUT", "vhosts/" + vhost);
        return std::make_unique<store>(vhost);
    };
    made.attach = [](const std::string& location) {
        return std::make_unique<tagged_store<shove::rabbitmq>>(config_for(location), location);
    };
    return made;
}
}  // namespace

SHOVE_CONFORMANCE(factory());
