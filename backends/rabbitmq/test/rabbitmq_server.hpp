#pragma once

#include "management.hpp"

#include <shove/clock.hpp>
#include <shove/testkit/real_broker.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shove::rabbitmq_test {

/// What is in a queue.
struct queue_counts {
    std::size_t ready = 0;
    std::size_t unacknowledged = 0;
    std::size_t consumers = 0;
    bool operator==(const queue_counts&) const = default;
};

/// The RabbitMQ that tests share, each in a virtual host of its own. They may not stop or slow it.
class rabbitmq_server {
public:
    rabbitmq_server() : rabbitmq_server("rabbitmq") {}

    /// `amqp://guest:guest@127.0.0.1:PORT/VHOST`.
    std::string url(std::string_view vhost = "/") const { return amqp_.url(vhost, amqp_.port); }
    /// The same through a proxy that listens on `port` of 127.0.0.1.
    std::string url(std::string_view vhost, std::uint16_t port) const { return amqp_.url(vhost, port); }
    /// `amqps://…`; the certificate to trust is `testkit::broker_setting("CA")`.
    std::string tls_url(std::string_view vhost = "/") const { return amqps_.url(vhost, amqps_.port); }
    std::string tls_url(std::string_view vhost, std::uint16_t port) const { return amqps_.url(vhost, port); }
    std::uint16_t port() const noexcept { return amqp_.port; }
    std::uint16_t tls_port() const noexcept { return amqps_.port; }

    /// `http://127.0.0.1:PORT`; the user is guest, too.
    std::string management_url() const { return "http://" + management_.host + ":" + std::to_string(management_.port); }

    /// A call of the management interface.
    answer call(std::string_view method, const std::string& path, std::string body = {}) const;
    /// The same; a status over 299 becomes a `testkit::broker_error`.
    std::string expect(std::string_view method, const std::string& path, std::string body = {}) const;

    // Asked in the node itself: the management interface is a second or two behind.

    /// Names of the connections into a virtual host.
    std::vector<std::string> connections(std::string_view vhost) const;
    /// Closes connections as an operator does: 320 CONNECTION_FORCED.
    void close_connection(std::string_view name) const;
    void close_connections(std::string_view vhost) const;
    queue_counts counts(std::string_view vhost, std::string_view queue) const;

    /// Evaluates an Erlang expression in the node; gives the text of its value.
    std::string eval(const std::string& expression) const { return broker_.control("eval", {expression}); }

protected:
    explicit rabbitmq_server(std::string name);
    testkit::real_broker broker_;

private:
    address amqp_;
    address amqps_;
    address management_;
};

/// The RabbitMQ that a test may break. Its constructor brings it to order. Tests that use it have
/// `LOCK rabbitmq-faults` in CMake, so that one runs at a time.
class rabbitmq_faults : public rabbitmq_server {
public:
    rabbitmq_faults();

    /// SIGKILL. Durable queues and persistent messages outlive it: declarations are written to disk first.
    void kill() const;
    /// SIGKILL at once. A queue declared within the last seconds may be lost, with what was confirmed in it: RabbitMQ
    /// 3.10 recovers some declarations as if they had not ended (seen 2 times of 14).
    void kill_unprepared() const { broker_.kill(); }
    /// Starts it unless it runs; returns when it serves: 8 to 13 seconds.
    void up() const { broker_.up(); }
    void restart() const;
    /// SIGSTOP: connections stay open, and nothing answers.
    void pause() const { broker_.pause(); }
    void resume() const { broker_.resume(); }
    /// Closes all connections in order and refuses new ones. Takes 5 seconds after that.
    void stop_app() const { broker_.control("stop-app"); }
    void start_app() const { broker_.control("start-app"); }
    /// `connection.blocked`: publishers are no longer read.
    void set_memory_alarm() const { broker_.control("alarm", {"set"}); }
    void clear_memory_alarm() const { broker_.control("alarm", {"clear"}); }
    /// How long a delivery may stay unacknowledged, in channels opened from now on; looked at each second.
    void consumer_timeout(milliseconds after) const;
};

/// A fresh virtual host; deleted, with all in it, by the destructor.
class vhost {
public:
    explicit vhost(const rabbitmq_server& on);
    vhost(const vhost&) = delete;
    vhost& operator=(const vhost&) = delete;
    ~vhost();

    const std::string& name() const noexcept { return name_; }
    std::string url() const { return server_.url(name_); }
    std::string url(std::uint16_t port) const { return server_.url(name_, port); }
    std::string tls_url() const { return server_.tls_url(name_); }
    std::vector<std::string> connections() const { return server_.connections(name_); }
    void close_connections() const { server_.close_connections(name_); }
    queue_counts counts(std::string_view queue) const { return server_.counts(name_, queue); }

    // Through the management interface, for tests that need no client.

    void declare_queue(std::string_view queue) const;                   ///< durable
    void publish(std::string_view queue, std::string_view text) const;  ///< persistent; `text` has no quotes in it
    /// Takes all messages; gives their texts.
    std::vector<std::string> take_all(std::string_view queue) const;

private:
    std::string path(std::string_view of, std::string_view name = {}) const;

    const rabbitmq_server& server_;
    std::string name_;
};

}  // namespace shove::rabbitmq_test
