#pragma once

#include "rabbitmq_server.hpp"

#include <shove/rabbitmq.hpp>
#include <shove/shove.hpp>
#include <shove/testkit/events.hpp>
#include <shove/testkit/tcp_proxy.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace shove::rabbitmq_test {

using rabbit_broker = shove::broker<shove::rabbitmq>;
using rabbit_group = shove::consumer_group<shove::rabbitmq>;

/// Opens a broker that says nothing to stderr: in these tests things fail.
rabbit_broker open_quietly(const std::string& url);

/// One topic in a fresh virtual host of a server, and a broker that reaches it through a network that fails on demand.
class site {
public:
    using shape = std::function<shove::topology(const shove::topology&)>;

    /// @param options  of the URL, with their `?`
    explicit site(const rabbitmq_server& on, std::string_view options = "?heartbeat=1", const shape& of = {});

    const vhost& host() const noexcept { return host_; }
    testkit::tcp_proxy& network() noexcept { return network_; }
    rabbit_broker& broker() { return *broker_; }
    const runtime_topic& topic() const noexcept { return topic_; }
    static std::string queue() { return "orders"; }
    /// A broker that is closed, and does not go through the network.
    rabbit_broker direct() const { return open_quietly(host_.url()); }
    /// One message; throws unless it is confirmed.
    void publish(const std::string& id, const std::string& key = {});
    /// A group that is started, with one consumer unless told.
    rabbit_group consume(detail::raw_function handler, consumer_options how = {});
    /// Deletes a queue or an exchange, as an operator does.
    void remove(std::string_view kind, std::string_view name) const;
    /// Waits until a queue holds exactly that.
    void wait_for(const queue_counts& what, std::string_view queue = "orders") const;

private:
    const rabbitmq_server& server_;
    vhost host_;
    testkit::tcp_proxy network_;
    runtime_topic topic_;
    std::optional<rabbit_broker> broker_;
};

/// A handler that waits in its first calls until it is let go.
struct slow_handler {
    testkit::gate go{};
    testkit::counter ended{};
    outcome first = ack;  ///< Of the first attempt.
    outcome then = ack;

    outcome operator()(std::span<const std::byte>, const delivery& info) const {
        (void)go.arrive();
        const auto answer = info.attempt() == 1 ? first : then;
        ended.add();
        return answer;
    }
};

/// Publishes without end and handles what comes, while a test does harm; keeps book of both.
class traffic {
public:
    explicit traffic(site& on);
    traffic(const traffic&) = delete;
    traffic& operator=(const traffic&) = delete;
    ~traffic();

    /// Waits until so many messages that are published from now on are confirmed and handled.
    void goes_on(std::size_t messages = 20);
    /// Ends the publishing; the ids that were confirmed and never handled.
    std::set<std::string> lost();

private:
    void publish_all();
    std::set<std::string> unhandled() const;

    site& site_;
    testkit::recorder<std::string> confirmed_;
    testkit::recorder<std::string> handled_;
    std::atomic<bool> over_{false};
    rabbit_group group_;
    std::thread publishing_;
};

}  // namespace shove::rabbitmq_test
