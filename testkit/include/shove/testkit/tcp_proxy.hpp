#pragma once

#include <shove/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace shove::testkit {

/// A way through a proxy.
enum class flow : std::uint8_t { both, to_target, to_client };

/// A network that fails on demand: a TCP proxy on 127.0.0.1 between the code under test and a broker. It forwards
/// to a port of 127.0.0.1 until it is told to do harm. Harm holds for the connections that are open and for new ones.
/// @par Thread safety  All members may be called from several threads. When one returns, it has happened.
class tcp_proxy {
public:
    /// @param port  Where it listens; 0: where there is room.
    explicit tcp_proxy(std::uint16_t target_port, std::uint16_t port = 0);
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;
    ~tcp_proxy();

    /// Where clients connect to; it stays the same.
    std::uint16_t port() const noexcept;
    /// Connections that are open now.
    std::size_t connections() const;
    /// Connections that were ever accepted.
    std::size_t accepted() const;

    /// Closes all connections in order (FIN), as a server that stops.
    void close_all();
    /// Resets all connections (RST), as a server that crashed.
    void reset_all();
    /// Connections stay open and new ones are accepted, but nothing passes: a network that swallows.
    void stall(flow which = flow::both);
    /// What stalled flows again, what was held first.
    void release();
    /// Each byte takes so much longer, each way.
    void delay(milliseconds each_way);
    /// So many more bytes pass one way, then the connection that carried the last one is closed. Happens once.
    void close_after(std::size_t bytes, flow which);
    /// New connections are refused, as when no server runs; open ones stay.
    void refuse();
    /// Ends `refuse`.
    void admit();

private:
    class core;
    std::unique_ptr<core> core_;
};

}  // namespace shove::testkit
