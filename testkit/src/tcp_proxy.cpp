#include "tcp_link.hpp"

#include <shove/testkit/tcp_proxy.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace shove::testkit {
namespace {

/// A socket on a port of loopback, which it may share with others of ours.
template <class Socket>
void bind_shared(Socket& socket, std::uint16_t port) {
    socket.open(tcp::v4());
    keep_from_children(socket);
    const int yes = 1;
    if (::setsockopt(socket.native_handle(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0) {
        throw std::system_error(errno, std::generic_category(), "SO_REUSEPORT");
    }
    socket.bind({asio::ip::address_v4::loopback(), port});
}

}  // namespace

class tcp_proxy::core {
public:
    core(std::uint16_t target, std::uint16_t port) : target_(asio::ip::address_v4::loopback(), target) {
        // Bound, never listening: keeps the port while connections are refused.
        bind_shared(reserved_, port);
        port_ = reserved_.local_endpoint().port();
        listen();
        thread_ = std::thread([this] { io_.run(); });
    }
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() {
        on_loop([this] {
            refuse();
            end_all(false);
        });
        work_.reset();
        thread_.join();
    }

    std::uint16_t port() const noexcept { return port_; }

    /// Runs in the proxy's thread; returns when it has.
    template <class F>
    std::invoke_result_t<F> on_loop(F what) {
        const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<F>()>>(std::move(what));
        auto done = task->get_future();
        asio::post(io_, [task] { (*task)(); });
        return done.get();
    }

    // All below in the proxy's thread.

    std::size_t connections() {
        std::erase_if(links_, [](const auto& link) { return !link->open(); });
        return links_.size();
    }
    std::size_t accepted() const { return accepted_; }

    void listen() {
        if (acceptor_.is_open()) return;
        bind_shared(acceptor_, port_);
        acceptor_.listen();
        accept();
    }
    void refuse() {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
    }
    void end_all(bool reset) {
        for (const auto& link : links_)
            link->end(reset);
        links_.clear();
    }
    /// Changes the rules of one way or of both.
    template <class F>
    void change(flow which, F rule) {
        if (which != flow::to_client) rule(rules_[0]);
        if (which != flow::to_target) rule(rules_[1]);
        for (const auto& link : links_)
            link->wake();
    }

private:
    void accept() {
        acceptor_.async_accept([this](boost::system::error_code failed, tcp::socket client) {
            if (failed == asio::error::operation_aborted || !acceptor_.is_open()) return;
            if (!failed) begin(std::move(client));
            accept();
        });
    }
    void begin(tcp::socket client) {
        connections();  // forgets those that ended
        ++accepted_;
        links_.push_back(std::make_shared<tcp_link>(std::move(client), rules_));
        links_.back()->start(target_);
    }

    asio::io_context io_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    tcp::endpoint target_;
    tcp::socket reserved_{io_};
    tcp::acceptor acceptor_{io_};
    std::uint16_t port_ = 0;
    flow_rules rules_;
    std::size_t accepted_ = 0;
    std::vector<std::shared_ptr<tcp_link>> links_;
    std::thread thread_;
};

tcp_proxy::tcp_proxy(std::uint16_t target_port, std::uint16_t port)
    : core_(std::make_unique<core>(target_port, port)) {}

tcp_proxy::~tcp_proxy() = default;

std::uint16_t tcp_proxy::port() const noexcept {
    return core_->port();
}

std::size_t tcp_proxy::connections() const {
    return core_->on_loop([this] { return core_->connections(); });
}

std::size_t tcp_proxy::accepted() const {
    return core_->on_loop([this] { return core_->accepted(); });
}

void tcp_proxy::close_all() {
    core_->on_loop([this] { core_->end_all(false); });
}

void tcp_proxy::reset_all() {
    core_->on_loop([this] { core_->end_all(true); });
}

void tcp_proxy::stall(flow which) {
    core_->on_loop([this, which] { core_->change(which, [](flow_rule& rule) { rule.stalled = true; }); });
}

void tcp_proxy::release() {
    core_->on_loop([this] { core_->change(flow::both, [](flow_rule& rule) { rule.stalled = false; }); });
}

void tcp_proxy::delay(milliseconds each_way) {
    core_->on_loop([&] { core_->change(flow::both, [each_way](flow_rule& rule) { rule.delay = each_way; }); });
}

void tcp_proxy::close_after(std::size_t bytes, flow which) {
    core_->on_loop([&] { core_->change(which, [bytes](flow_rule& rule) { rule.close_after = bytes; }); });
}

void tcp_proxy::refuse() {
    core_->on_loop([this] { core_->refuse(); });
}

void tcp_proxy::admit() {
    core_->on_loop([this] { core_->listen(); });
}

}  // namespace shove::testkit
