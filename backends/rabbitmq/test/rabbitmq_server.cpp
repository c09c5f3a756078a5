#include "rabbitmq_server.hpp"

#include <simdjson.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

namespace shove::rabbitmq_test {
namespace {

/// The texts of one member of each object in an array.
std::vector<std::string> members(const std::string& json, std::string_view member) {
    simdjson::dom::parser parser;
    std::vector<std::string> made;
    for (const simdjson::dom::element each : parser.parse(json).get_array())
        made.emplace_back(std::string_view(each[member]));
    return made;
}

/// No other vhost has it, of this process or another.
std::string fresh_name() {
    static std::atomic<unsigned> count = 0;
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return "test-" + std::to_string(::getpid()) + "-" + std::to_string(now) + "-" + std::to_string(++count);
}

}  // namespace

rabbitmq_server::rabbitmq_server(std::string name)
    : broker_(std::move(name)),
      amqp_(broker_.address()),
      amqps_(broker_.address("tls")),
      management_(broker_.address("management")) {}

answer rabbitmq_server::call(std::string_view method, const std::string& path, std::string body) const {
    return call_management(management_, method, path, std::move(body));
}

std::string rabbitmq_server::expect(std::string_view method, const std::string& path, std::string body) const {
    auto reply = call(method, path, std::move(body));
    if (reply.status >= 300) {
        throw testkit::broker_error(std::string(method) + " " + path + ": " + std::to_string(reply.status) + " " +
                                    reply.body);
    }
    return std::move(reply.body);
}

std::vector<std::string> rabbitmq_server::connections(std::string_view vhost) const {
    return members(expect("GET", "/api/vhosts/" + percent_encoded(vhost) + "/connections"), "name");
}

void rabbitmq_server::close_connection(std::string_view name) const {
    const auto path = "/api/connections/" + percent_encoded(name);
    const auto reply = call("DELETE", path);
    constexpr unsigned not_found = 404;  // it has ended by itself
    if (reply.status >= 300 && reply.status != not_found) throw testkit::broker_error("DELETE " + path + reply.body);
}

void rabbitmq_server::close_connections(std::string_view vhost) const {
    for (const auto& name : connections(vhost))
        close_connection(name);
}

rabbitmq_faults::rabbitmq_faults() : rabbitmq_server("rabbitmq-faults") {
    broker_.restore();
}

void rabbitmq_faults::restart() const {
    kill();
    up();
}

void rabbitmq_faults::consumer_timeout(milliseconds after) const {
    eval("application:set_env(rabbit, consumer_timeout, " + std::to_string(after.count()) + ")");
}

vhost::vhost(const rabbitmq_server& on) : server_(on), name_(fresh_name()) {
    server_.expect("PUT", path("vhosts"));
    server_.expect("PUT", path("permissions", "guest"), R"({"configure":".*","write":".*","read":".*"})");
}

vhost::~vhost() {
    try {
        server_.call("DELETE", path("vhosts"));
    } catch (const testkit::broker_error&) {
        // The test has left its server down; the next one starts it anew, and nobody asks for this name.
    }
}

void vhost::declare_queue(std::string_view queue) const {
    server_.expect("PUT", path("queues", queue), R"({"durable":true})");
}

void vhost::publish(std::string_view queue, std::string_view text) const {
    const auto routed =
        server_.expect("POST", path("exchanges", "amq.default") + "/publish",
                       R"({"properties":{"delivery_mode":2},"payload_encoding":"string","routing_key":")" +
                           std::string(queue) + R"(","payload":")" + std::string(text) + "\"}");
    if (routed != R"({"routed":true})") throw testkit::broker_error("not routed to " + std::string(queue));
}

std::vector<std::string> vhost::take_all(std::string_view queue) const {
    return members(server_.expect("POST", path("queues", queue) + "/get",
                                  R"({"count":1000000,"ackmode":"ack_requeue_false","encoding":"auto"})"),
                   "payload");
}

std::string vhost::path(std::string_view of, std::string_view name) const {
    const auto made = "/api/" + std::string(of) + "/" + percent_encoded(name_);
    return name.empty() ? made : made + "/" + percent_encoded(name);
}

}  // namespace shove::rabbitmq_test
