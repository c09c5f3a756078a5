#pragma once

#include <shove/testkit/events.hpp>

#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace shove::rabbitmq_test {

/// A connection of a client that is not ours: librabbitmq's.
class plain_client {
public:
    plain_client(std::uint16_t port, const std::string& vhost) {
        amqp_tcp_socket_new(state_.get());
        open("127.0.0.1", port, vhost);
    }
    plain_client(std::uint16_t port, const std::string& vhost, const std::string& authority) {
        auto* socket = amqp_ssl_socket_new(state_.get());
        amqp_ssl_socket_set_cacert(socket, authority.c_str());
        open("localhost", port, vhost);  // it looks for names in certificates only
    }
    bool logged_in() const { return logged_in_; }
    /// The next frame within a time; `AMQP_STATUS_TIMEOUT` if there is none.
    int next_frame(amqp_frame_t& frame, std::chrono::milliseconds within = testkit::patience()) {
        timeval limit{within.count() / 1000, within.count() % 1000 * 1000};
        return amqp_simple_wait_frame_noblock(state_.get(), &frame, &limit);
    }
    /// Waits for a method of the connection.
    bool receives(amqp_method_number_t method) {
        amqp_frame_t frame{};
        while (next_frame(frame) == AMQP_STATUS_OK) {
            if (frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == method) return true;
        }
        return false;
    }
    bool has_ended() {
        amqp_frame_t frame{};
        int status = AMQP_STATUS_OK;
        while (status == AMQP_STATUS_OK)
            status = next_frame(frame);
        return status != AMQP_STATUS_TIMEOUT;
    }
    /// Opens channel 1, and consumes with acknowledgements.
    void consume(const char* queue) {
        amqp_channel_open(state(), 1);
        amqp_basic_consume(state(), 1, amqp_cstring_bytes(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    }
    /// As the server lists it.
    std::string name() {
        return "127.0.0.1:" + std::to_string(port_of(::getsockname)) +
               " -> 127.0.0.1:" + std::to_string(port_of(::getpeername));
    }
    amqp_connection_state_t state() { return state_.get(); }

private:
    template <class Get>
    std::uint16_t port_of(Get get) {
        sockaddr_in found{};
        socklen_t size = sizeof found;
        get(amqp_get_sockfd(state()), reinterpret_cast<sockaddr*>(&found), &size);
        return ntohs(found.sin_port);
    }
    void open(const char* host, std::uint16_t port, const std::string& vhost) {
        timeval limit{10, 0};
        amqp_set_handshake_timeout(state_.get(), &limit);
        if (amqp_socket_open_noblock(amqp_get_socket(state_.get()), host, port, &limit) != AMQP_STATUS_OK) return;
        amqp_table_entry_t blocked{amqp_cstring_bytes("connection.blocked"), {}};
        blocked.value.kind = AMQP_FIELD_KIND_BOOLEAN;
        blocked.value.value.boolean = 1;
        amqp_table_entry_t capabilities{amqp_cstring_bytes("capabilities"), {}};
        capabilities.value.kind = AMQP_FIELD_KIND_TABLE;
        capabilities.value.value.table = {1, &blocked};
        const amqp_table_t properties{1, &capabilities};
        logged_in_ = amqp_login_with_properties(state_.get(), vhost.c_str(), 0, 131072, 0, &properties,
                                                AMQP_SASL_METHOD_PLAIN, "guest", "guest")
                         .reply_type == AMQP_RESPONSE_NORMAL;
    }

    struct destroy {
        void operator()(amqp_connection_state_t what) const { amqp_destroy_connection(what); }
    };
    std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, destroy> state_{amqp_new_connection()};
    bool logged_in_ = false;
};

}  // namespace shove::rabbitmq_test
