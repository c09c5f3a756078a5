#include "amqp_client.hpp"

#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace shove::bench {
namespace {

amqp_bytes_t bytes_of(std::string_view text) {
    return {text.size(), const_cast<char*>(text.data())};  // NOLINT: rabbitmq-c reads only
}

void check(int status, const char* doing) {
    if (status >= 0) return;
    throw std::runtime_error(std::string(doing) + ": " + amqp_error_string2(status));
}

std::runtime_error failed(const char* doing, const amqp_rpc_reply_t& reply) {
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        return std::runtime_error(std::string(doing) + ": " + amqp_error_string2(reply.library_error));
    }
    return std::runtime_error(std::string(doing) + ": refused by the server");
}

}  // namespace

amqp_client::amqp_client(std::string url, std::uint16_t channels) : state_(amqp_new_connection()) {
    amqp_connection_info to{};
    check(amqp_parse_url(url.data(), &to), "URL");
    auto* socket = amqp_tcp_socket_new(state_.get());
    check(amqp_socket_open(socket, to.host, to.port), "connecting");
    const auto reply = amqp_login(state_.get(), to.vhost, 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN, to.user, to.password);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw failed("login", reply);
    for (std::uint16_t channel = 1; channel <= channels; ++channel) {
        amqp_channel_open(state_.get(), channel);
        check_answer("channel.open");
    }
}

void amqp_client::check_answer(const char* doing) const {
    const auto reply = amqp_get_rpc_reply(state_.get());
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw failed(doing, reply);
}

void amqp_client::declare(const std::string& queue) {
    const auto dead = queue + "-dlq";
    const auto argument = [](const char* name, std::string_view text) {
        amqp_table_entry_t made{};
        made.key = amqp_cstring_bytes(name);
        made.value.kind = AMQP_FIELD_KIND_UTF8;
        made.value.value.bytes = bytes_of(text);
        return made;
    };
    std::array all{argument("x-dead-letter-exchange", ""), argument("x-dead-letter-routing-key", dead)};
    amqp_queue_declare(state_.get(), 1, bytes_of(queue), 0, 1, 0, 0, {static_cast<int>(all.size()), all.data()});
    check_answer("queue.declare");
}

void amqp_client::remove(const std::string& queue) {
    amqp_queue_delete(state_.get(), 1, bytes_of(queue), 0, 0);
    check_answer("queue.delete");
}

void amqp_client::confirm() {
    amqp_confirm_select(state_.get(), 1);
    check_answer("confirm.select");
}

void amqp_client::consume(std::uint16_t channel, const std::string& queue, std::uint16_t prefetch) {
    amqp_basic_qos(state_.get(), channel, 0, prefetch, 0);
    check_answer("basic.qos");
    amqp_basic_consume(state_.get(), channel, bytes_of(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    check_answer("basic.consume");
}

void amqp_client::publish(const std::string& queue, std::string_view body) {
    std::snprintf(id_.data(), id_.size(), "01890a5d-ac96-774b-bcce-%012llx", ++published_);
    const auto now =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
    const auto id = bytes_of({id_.data(), id_.size() - 1});
    std::array<amqp_table_entry_t, 2> all{};
    all[0].key = amqp_cstring_bytes("x-message-id");
    all[0].value.kind = AMQP_FIELD_KIND_UTF8;
    all[0].value.value.bytes = id;
    all[1].key = amqp_cstring_bytes("x-published-at");
    all[1].value.kind = AMQP_FIELD_KIND_I64;
    all[1].value.value.i64 = now.count();
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG |
                        AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_HEADERS_FLAG;
    properties.content_type = amqp_cstring_bytes("application/json");
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties.message_id = id;
    properties.timestamp = static_cast<std::uint64_t>(now.count()) / 1'000'000;
    properties.headers = {static_cast<int>(all.size()), all.data()};
    check(amqp_basic_publish(state_.get(), 1, amqp_empty_bytes, bytes_of(queue), 1, 0, &properties, bytes_of(body)),
          "basic.publish");
}

void amqp_client::ack_up_to(std::uint16_t channel, std::uint64_t tag) {
    check(amqp_basic_ack(state_.get(), channel, tag, 1), "basic.ack");
}

void amqp_client::cork(bool on) noexcept {
    const int value = on ? 1 : 0;
    ::setsockopt(amqp_get_sockfd(state_.get()), IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

bool amqp_client::next(amqp_frame_t& into, int patience_ms) {
    const timeval patience{0, static_cast<suseconds_t>(patience_ms) * 1000};
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &into, &patience);
    if (status == AMQP_STATUS_TIMEOUT) return false;
    check(status, "reading");
    return true;
}

bool amqp_client::has_input() const noexcept {
    return amqp_frames_enqueued(state_.get()) != 0 || amqp_data_in_buffer(state_.get()) != 0;
}

}  // namespace shove::bench
