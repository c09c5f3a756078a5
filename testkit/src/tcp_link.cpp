#include "tcp_link.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace shove::testkit {
namespace {

/// Chunks of one way that wait at most; then the sender is no longer read.
constexpr std::size_t most_held = 64;

}  // namespace

tcp_link::tcp_link(tcp::socket client, flow_rules& rules)
    : client_(std::move(client)),
      target_(client_.get_executor()),
      up_(client_, target_, rules[0]),
      down_(target_, client_, rules[1]) {
    keep_from_children(client_);
}

void tcp_link::start(const tcp::endpoint& target) {
    target_.open(tcp::v4());
    keep_from_children(target_);
    target_.async_connect(target, [self = shared_from_this()](boost::system::error_code failed) {
        if (!self->open()) return;
        if (failed) return self->end(true);
        boost::system::error_code ignored;
        for (auto* socket : {&self->client_, &self->target_})
            socket->set_option(tcp::no_delay(true), ignored);
        self->read(self->up_);
        self->read(self->down_);
    });
}

void tcp_link::wake() {
    for (auto* each : {&up_, &down_}) {
        each->timer.cancel();
        write(*each);
    }
}

void tcp_link::end(bool reset) {
    boost::system::error_code ignored;
    for (auto* each : {&up_, &down_}) {
        each->timer.cancel();
        if (reset) {
            each->from.set_option(tcp::socket::linger(true, 0), ignored);
        } else {
            each->from.shutdown(tcp::socket::shutdown_both, ignored);
        }
        each->from.close(ignored);
    }
}

void tcp_link::read(way& on) {
    if (on.reading || on.finished_reading || on.held.size() >= most_held) return;
    on.reading = true;
    on.from.async_read_some(asio::buffer(on.room),
                            [this, self = shared_from_this(), &on](boost::system::error_code failed, std::size_t n) {
                                on.reading = false;
                                if (open()) have_read(on, failed, n);
                            });
}

void tcp_link::have_read(way& on, boost::system::error_code failed, std::size_t n) {
    if (failed && failed != asio::error::eof) return end(true);
    on.finished_reading = bool(failed);
    const auto bytes = on.room.begin();
    on.held.push_back({std::chrono::steady_clock::now() + on.rule.delay, {bytes, bytes + n}});
    write(on);
    if (open()) read(on);
}

void tcp_link::write(way& on) {
    if (on.writing || on.held.empty() || on.rule.stalled) return;
    if (on.held.front().due > std::chrono::steady_clock::now()) {
        on.timer.expires_at(on.held.front().due);
        on.timer.async_wait([this, self = shared_from_this(), &on](boost::system::error_code failed) {
            if (!failed && open()) write(on);
        });
    } else if (on.held.front().bytes.empty()) {
        finish(on);
    } else {
        send(on);
    }
}

void tcp_link::finish(way& on) {
    boost::system::error_code ignored;
    on.to.shutdown(tcp::socket::shutdown_send, ignored);
    on.held.clear();
    on.finished = true;
    if (up_.finished && down_.finished) end(false);
}

void tcp_link::send(way& on) {
    auto& left = on.rule.close_after;
    auto& bytes = on.held.front().bytes;
    const bool last = left && *left <= bytes.size();
    if (last) bytes.resize(*left);
    if (last) {
        left.reset();
    } else if (left) {
        *left -= bytes.size();
    }
    on.writing = true;
    asio::async_write(on.to, asio::buffer(bytes),
                      [this, self = shared_from_this(), &on, last](boost::system::error_code failed, std::size_t) {
                          on.writing = false;
                          if (!open()) return;
                          if (failed) return end(true);
                          have_sent(on, last);
                      });
}

void tcp_link::have_sent(way& on, bool last) {
    on.held.pop_front();
    if (last) return end(false);
    write(on);
    read(on);
}

}  // namespace shove::testkit
