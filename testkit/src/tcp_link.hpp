#pragma once

#include <shove/clock.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fcntl.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace shove::testkit {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A child process that inherited a socket would keep it open.
template <class Socket>
void keep_from_children(Socket& socket) {
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

/// What holds for one way through a proxy.
struct flow_rule {
    bool stalled = false;
    milliseconds delay{0};
    std::optional<std::size_t> close_after;
};

/// To the target, to the client.
using flow_rules = std::array<flow_rule, 2>;

/// One connection through a proxy. All calls in the thread of its sockets.
class tcp_link : public std::enable_shared_from_this<tcp_link> {
public:
    tcp_link(tcp::socket client, flow_rules& rules);

    /// Connects to the target and begins to forward; ends by a reset if there is no target.
    void start(const tcp::endpoint& target);
    bool open() const { return client_.is_open(); }
    /// The rules have changed.
    void wake();
    void end(bool reset);

private:
    struct chunk {
        steady_time due;
        std::vector<char> bytes;  ///< none: the sender has finished
    };
    /// One way: from a socket to the other.
    struct way {
        way(tcp::socket& source, tcp::socket& sink, flow_rule& applies)
            : from(source), to(sink), rule(applies), timer(source.get_executor()) {}
        tcp::socket& from;
        tcp::socket& to;
        flow_rule& rule;
        asio::steady_timer timer;
        std::array<char, 16384> room{};
        std::deque<chunk> held;
        bool reading = false;
        bool finished_reading = false;
        bool writing = false;
        bool finished = false;
    };

    void read(way& on);
    void have_read(way& on, boost::system::error_code failed, std::size_t n);
    void write(way& on);
    void finish(way& on);
    void send(way& on);
    void have_sent(way& on, bool last);

    tcp::socket client_;
    tcp::socket target_;
    way up_;
    way down_;
};

}  // namespace shove::testkit
