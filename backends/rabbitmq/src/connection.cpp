#include "connection.hpp"

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "refusal.hpp"
#include "secure_socket.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr timeval at_once{0, 0};
/// What is gathered beyond that is sent; and a body over that goes by rabbitmq-c, which needs no copy of it.
constexpr std::size_t gathered_bytes = 64 * 1024;
constexpr timeval answer_patience{10, 0};

timeval timeval_of(std::chrono::milliseconds time) {
    return {time.count() / 1000, time.count() % 1000 * 1000};
}

error unreachable(const std::string& peer, const std::string& why) {
    return {errc::not_connected, "RabbitMQ at " + peer + ": " + why};
}

amqp_table_entry_t entry(const char* key, std::string_view text) {
    amqp_table_entry_t made{};
    made.key = amqp_cstring_bytes(key);
    made.value.kind = AMQP_FIELD_KIND_UTF8;
    made.value.value.bytes = bytes_of(text);
    return made;
}

amqp_table_entry_t entry(const char* key) {
    amqp_table_entry_t made{};
    made.key = amqp_cstring_bytes(key);
    made.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    made.value.value.boolean = 1;
    return made;
}

std::string text_in(const amqp_table_t& table, std::string_view name) {
    for (int i = 0; i < table.num_entries; ++i) {
        const auto& at = table.entries[i];
        if (text_of(at.key) == name && at.value.kind == AMQP_FIELD_KIND_UTF8)
            return std::string(text_of(at.value.value.bytes));
    }
    return {};
}

}  // namespace

std::unique_ptr<connection> connection::dial(const rabbitmq::config& settings, const rabbitmq::address& where,
                                             std::string_view purpose) {
    const int port = where.port != 0 ? where.port : settings.tls ? 5671 : 5672;
    handle state(amqp_new_connection());
    if (!state) throw connection_failed{error(errc::internal, "out of memory")};
    std::unique_ptr<connection> made(new connection(std::move(state), where.host + ":" + std::to_string(port)));
    auto* socket = settings.tls ? secure_socket(made->state_.get(), settings, where.host, made->peer_)
                                : amqp_tcp_socket_new(made->state_.get());
    if (!socket) throw connection_failed{error(errc::internal, "out of memory")};
    const auto patience = timeval_of(settings.connect_timeout);
    amqp_set_handshake_timeout(made->state_.get(), &patience);
    amqp_set_rpc_timeout(made->state_.get(), &answer_patience);
    const int status = amqp_socket_open_noblock(socket, where.host.c_str(), port, &patience);
    if (status != AMQP_STATUS_OK) {
        const bool untrusted =
            status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED || status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED;
        auto why = std::string("cannot connect: ") + amqp_error_string2(status);
        if (!untrusted) throw connection_failed{unreachable(made->peer_, why)};
        // No patience helps with that.
        throw connection_failed{error(errc::invalid_argument,
                                      "RabbitMQ at " + made->peer_ + ": " + why +
                                          "; the server's certificate is not trusted for this name, see 'ca_file'")};
    }
    made->descriptor_ = amqp_get_sockfd(made->state_.get());
    made->log_in(settings, purpose);
    made->gathers_ = !settings.tls;
    return made;
}

connection::~connection() = default;

void connection::log_in(const rabbitmq::config& settings, std::string_view purpose) {
    auto name = settings.connection_name.empty() ? "shove-cpp-" + std::to_string(::getpid()) : settings.connection_name;
    name.append(" ").append(purpose);
    std::array can{entry("publisher_confirms"), entry("basic.nack"), entry("connection.blocked"),
                   entry("consumer_cancel_notify")};
    amqp_table_entry_t able{};
    able.key = amqp_cstring_bytes("capabilities");
    able.value.kind = AMQP_FIELD_KIND_TABLE;
    able.value.value.table = {static_cast<int>(can.size()), can.data()};
    std::array shown{entry("product", "shove"), entry("platform", "C++"), entry("connection_name", name), able};
    const amqp_table_t properties{static_cast<int>(shown.size()), shown.data()};
    const auto reply = amqp_login_with_properties(
        state_.get(), settings.virtual_host.c_str(), settings.channel_max, static_cast<int>(settings.frame_max),
        static_cast<int>(settings.heartbeat.count()), &properties, AMQP_SASL_METHOD_PLAIN, settings.user.c_str(),
        settings.password.c_str());
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return read_facts();
    const std::string who = "'" + settings.user + "' at virtual host '" + settings.virtual_host + "'";
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
        const auto why = refusal_of(reply.reply);
        // What is not about the user or the virtual host passes: the server stops or starts, or runs out of something.
        const bool for_good = code_of(why) == errc::invalid_argument;
        throw connection_failed{error(for_good ? errc::invalid_argument : errc::not_connected,
                                      "RabbitMQ at " + peer_ + " refuses user " + who + ": " + why.text)};
    }
    // Older servers answer a wrong password, and all answer an unknown virtual host, by hanging up.
    const bool hung_up =
        reply.library_error == AMQP_STATUS_CONNECTION_CLOSED || reply.library_error == AMQP_STATUS_SOCKET_ERROR;
    auto why = std::string("no login of user ") + who + ": " + amqp_error_string2(reply.library_error);
    if (hung_up) why += "; is this an AMQP port, with or without TLS as configured?";
    throw connection_failed{unreachable(peer_, why)};
}

void connection::read_facts() {
    if (const auto* told = amqp_get_server_properties(state_.get())) {
        server_.product = text_in(*told, "product");
        server_.version = text_in(*told, "version");
        std::from_chars(server_.version.data(), server_.version.data() + server_.version.size(), server_.major);
    }
    // Frame header and end, class, weight, size of the body and flags; and some more than that.
    header_room_ = static_cast<std::size_t>(amqp_get_frame_max(state_.get())) - 64;
    out_.limit(static_cast<std::size_t>(amqp_get_frame_max(state_.get())));
    const auto most = static_cast<std::size_t>(amqp_get_channel_max(state_.get()));
    channels_.assign((most == 0 ? 65'535 : most) + 1, false);
    channels_[0] = true;
}

bool connection::has_input() const noexcept {
    return amqp_frames_enqueued(state_.get()) != 0 || amqp_data_in_buffer(state_.get()) != 0;
}

bool connection::next(amqp_frame_t& into) {
    return take_next(into, at_once);
}

bool connection::wait_next(amqp_frame_t& into, std::chrono::steady_clock::time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    return take_next(into, timeval_of(std::max(left, std::chrono::milliseconds(0))));
}

bool connection::take_next(amqp_frame_t& into, const timeval& patience) {
    flush();  // rabbitmq-c may send a heartbeat
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &into, &patience);
    if (status == AMQP_STATUS_TIMEOUT) return false;
    check(status, "reading");
    if (into.channel == 0 && into.frame_type == AMQP_FRAME_METHOD &&
        into.payload.method.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto why = refusal_of(into.payload.method).text;
        amqp_connection_close_ok_t ok{};
        amqp_send_method(state_.get(), 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);
        throw connection_failed{
            error(errc::connection_lost, "RabbitMQ at " + peer_ + " closed the connection: " + why)};
    }
    return true;
}

void connection::forget_frames(amqp_channel_t channel) noexcept {
    amqp_maybe_release_buffers_on_channel(state_.get(), channel);
}

amqp_channel_t connection::open_channel() {
    auto number = last_channel_;
    std::size_t tried = 0;
    do {
        number = number + 1 < channels_.size() ? number + 1 : 1;
    } while (channels_[number] && ++tried < channels_.size());
    if (channels_[number]) {
        throw channel_failed{
            error(
                errc::invalid_argument,
                "RabbitMQ at " + peer_ + ": all " + std::to_string(channels_.size() - 1) +
                    " channels of the connection are in use; raise 'channel_max' or lower 'consumers_per_connection'"),
            0};
    }
    const auto channel = static_cast<amqp_channel_t>(number);
    amqp_channel_open_t open{};
    call_any(channel, AMQP_CHANNEL_OPEN_METHOD, &open, AMQP_CHANNEL_OPEN_OK_METHOD);
    channels_[number] = true;
    last_channel_ = number;
    forget_frames(channel);
    return channel;
}

void connection::close_channel(amqp_channel_t channel) {
    amqp_channel_close_t close{};
    close.reply_code = AMQP_REPLY_SUCCESS;
    close.reply_text = bytes_of("done");
    try {
        call_any(channel, AMQP_CHANNEL_CLOSE_METHOD, &close, AMQP_CHANNEL_CLOSE_OK_METHOD);
        channels_.at(channel) = false;
    } catch (const channel_failed&) {  // closed by both at once
    }
    // What the server had sent before it closed lies queued. It is no one's.
    forget_frames(channel);
}

void connection::channel_gone(amqp_channel_t channel) {
    amqp_channel_close_ok_t ok{};
    send(channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    channels_.at(channel) = false;
    forget_frames(channel);
}

const void* connection::call_any(amqp_channel_t channel, amqp_method_number_t id, void* method,
                                 amqp_method_number_t answer) {
    return call_either(channel, id, method, answer, 0).decoded;
}

amqp_method_t connection::call_either(amqp_channel_t channel, amqp_method_number_t id, void* method,
                                      amqp_method_number_t one, amqp_method_number_t other) {
    flush();
    std::array<amqp_method_number_t, 3> answers{one, other, 0};
    const auto reply = amqp_simple_rpc(state_.get(), channel, id, answers.data(), method);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return reply.reply;
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) fail(reply.library_error, "waiting for an answer");
    auto why = refusal_of(reply.reply);
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        channel_gone(channel);
        throw channel_failed{error(code_of(why), "RabbitMQ refuses: " + why.text), why.code};
    }
    throw connection_failed{
        error(errc::connection_lost, "RabbitMQ at " + peer_ + " closed the connection: " + why.text)};
}

void connection::send(amqp_channel_t channel, amqp_method_number_t id, void* method) {
    flush();
    check(amqp_send_method(state_.get(), channel, id, method), "sending");
}

void connection::publish(amqp_channel_t channel, std::string_view exchange, std::string_view routing_key,
                         bool mandatory, const amqp_basic_properties_t& properties, std::span<const std::byte> body) {
    if (gathers_ && body.size() <= gathered_bytes) {
        amqp_basic_publish_t how{};
        how.exchange = bytes_of(exchange);
        how.routing_key = bytes_of(routing_key);
        how.mandatory = mandatory ? 1 : 0;
        check(out_.message(channel, how, properties, body), "publishing");
        return flush_if_much();
    }
    flush();
    const amqp_bytes_t bytes{body.size(), const_cast<std::byte*>(body.data())};  // NOLINT: rabbitmq-c reads only
    before_sending();
    check(amqp_basic_publish(state_.get(), channel, bytes_of(exchange), bytes_of(routing_key), mandatory ? 1 : 0, 0,
                             &properties, bytes),
          "publishing");
}

void connection::ack(amqp_channel_t channel, std::uint64_t tag, bool multiple) {
    const amqp_basic_ack_t how{tag, static_cast<amqp_boolean_t>(multiple ? 1 : 0)};
    settle(channel, AMQP_BASIC_ACK_METHOD, &how, "acknowledging");
}

void connection::requeue(amqp_channel_t channel, std::uint64_t tag, bool multiple) {
    const amqp_basic_nack_t how{tag, static_cast<amqp_boolean_t>(multiple ? 1 : 0), 1};
    settle(channel, AMQP_BASIC_NACK_METHOD, &how, "giving messages back");
}

void connection::settle(amqp_channel_t channel, amqp_method_number_t id, const void* how, const char* doing) {
    if (gathers_) {
        check(out_.method(channel, id, how), doing);
        return flush_if_much();
    }
    before_sending();
    check(amqp_send_method(state_.get(), channel, id, const_cast<void*>(how)), doing);  // NOLINT: it reads only
}

void connection::cork(bool on) noexcept {
    if (!on && batched_ > 1) set_cork(false);
    batched_ = on ? 0 : -1;
    if (on) return;
    try {
        flush();
    } catch (const connection_failed&) {
        cut();
    }
}

void connection::flush_if_much() {
    if (batched_ < 0 || out_.bytes().size() >= gathered_bytes) flush();
}

void connection::flush() {
    auto left = out_.bytes();
    while (!left.empty()) {
        const auto sent = ::send(descriptor_, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            left = left.subspan(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            wait_writable();
        } else if (errno != EINTR) {
            out_.clear();
            fail(AMQP_STATUS_SOCKET_ERROR, "sending");
        }
    }
    out_.clear();
}

/// A server that takes nothing may be choked (`connection.blocked`); one that says nothing either is gone.
void connection::wait_writable() {
    const int heartbeat = amqp_get_heartbeat(state_.get());
    const int patience = heartbeat > 0 ? 2 * heartbeat * 1000 : -1;
    pollfd writable{descriptor_, POLLOUT, 0};
    for (;;) {
        const int answer = ::poll(&writable, 1, patience);
        if (answer > 0) return;
        if (answer < 0 && errno == EINTR) continue;
        pollfd readable{descriptor_, POLLIN, 0};
        if (::poll(&readable, 1, 0) > 0) continue;
        out_.clear();
        fail(AMQP_STATUS_HEARTBEAT_TIMEOUT, "sending");
    }
}

/// With TLS. What goes out alone needs no cork: rabbitmq-c itself keeps the frames of one message together.
void connection::before_sending() noexcept {
    if (batched_ >= 0 && ++batched_ == 2) set_cork(true);
}

void connection::set_cork(bool on) noexcept {
    const int value = on ? 1 : 0;
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

void connection::cut() noexcept {
    ::shutdown(descriptor_, SHUT_RDWR);
}

void connection::close() noexcept {
    constexpr timeval second{1, 0};
    amqp_set_rpc_timeout(state_.get(), &second);
    amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS);
}

void connection::fail(int status, const char* doing) const {
    throw connection_failed{error(errc::connection_lost, "RabbitMQ at " + peer_ + ": the connection was lost while " +
                                                             doing + ": " + amqp_error_string2(status))};
}

}  // namespace shove::rabbitmq_backend
