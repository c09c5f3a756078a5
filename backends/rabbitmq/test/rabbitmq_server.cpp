#include "rabbitmq_server.hpp"

#include <simdjson.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <sstream>
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

std::string binary(std::string_view text) {
    return "<<\"" + std::string(text) + "\">>";
}

/// In Erlang: process and name of each connection whose `VHost` or `Name` is `value`.
std::string connections_where(std::string_view which, std::string_view value) {
    return "[{Pid, Name} || Pid <- rabbit_networking:connections(), [{name, Name}, {vhost, VHost}] <- "
           "[rabbit_networking:connection_info(Pid, [name, vhost])], " +
           std::string(which) + " =:= " + binary(value) + "]";
}

std::string closing(const std::string& connections) {
    return "[rabbit_networking:close_connection(Pid, \"closed by a test\") || {Pid, _} <- " + connections + "]";
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
    const auto names =
        eval("string:join([binary_to_list(Name) || {_, Name} <- " + connections_where("VHost", vhost) + "], \"|\")");
    std::vector<std::string> made;
    if (!names.starts_with('"')) return made;  // an empty text is an empty list
    std::istringstream text(names.substr(1, names.size() - 2));
    for (std::string name; std::getline(text, name, '|');)
        made.push_back(name);
    return made;
}

void rabbitmq_server::close_connection(std::string_view name) const {
    eval(closing(connections_where("Name", name)));
}

void rabbitmq_server::close_connections(std::string_view vhost) const {
    eval(closing(connections_where("VHost", vhost)));
}

queue_counts rabbitmq_server::counts(std::string_view vhost, std::string_view queue) const {
    const auto text = eval("{ok, Queue} = rabbit_amqqueue:lookup(rabbit_misc:r(" + binary(vhost) + ", queue, " +
                           binary(queue) + ")), lists:flatten(io_lib:format(\"~b ~b ~b\", [Count || {_, Count} <- " +
                           "rabbit_amqqueue:info(Queue, [messages_ready, messages_unacknowledged, consumers])]))");
    queue_counts made;
    std::istringstream(text.substr(1)) >> made.ready >> made.unacknowledged >> made.consumers;
    return made;
}

rabbitmq_faults::rabbitmq_faults() : rabbitmq_server("rabbitmq-faults") {
    broker_.restore();
}

void rabbitmq_faults::kill() const {
    broker_.control("flush");
    broker_.kill();
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
