#pragma once

#include <shove/error.hpp>
#include <shove/rabbitmq.hpp>

#include <amqp.h>
#include <sys/time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "frame_writer.hpp"

namespace shove::rabbitmq_backend {

/// Thrown on the thread of a connection when that is gone. Nothing more can be done with it.
struct connection_failed {
    error cause;
};

/// Thrown when the server has closed a channel: what was asked for there is refused.
struct channel_failed {
    error cause;
    std::uint16_t code = 0;  ///< AMQP's reply code: 404, 406, …
};

/// What a server says of itself when it is dialled.
struct server_facts {
    std::string product;
    std::string version;
    std::uint32_t major = 0;  ///< Of the version; 0: unknown.
};

/// One AMQP connection: a socket, and what rabbitmq-c keeps of it. All calls may throw `connection_failed`.
/// @par Thread safety  One thread at a time. `cut` alone may be called from any.
class connection {
public:
    /// Dials, proves who the server is where TLS is on, and logs in. Blocks for `config::connect_timeout` at most, for
    /// each of the dial and the login.
    /// @param purpose  Becomes part of the connection's name, which the server shows.
    static std::unique_ptr<connection> dial(const rabbitmq::config& settings, const rabbitmq::address& where,
                                            std::string_view purpose);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    const server_facts& server() const noexcept { return server_; }
    /// Where it goes, for people: `127.0.0.1:5672`.
    const std::string& peer() const noexcept { return peer_; }
    int descriptor() const noexcept { return descriptor_; }
    /// The largest encoded header of a message.
    std::size_t header_room() const noexcept { return header_room_; }

    /// Whether a frame may be had without asking the socket.
    bool has_input() const noexcept;
    /// Takes the next frame if one is there; also does what heartbeats ask for. Never waits.
    bool next(amqp_frame_t& into);
    /// As `next`, but waits for one. False: none came in time.
    bool wait_next(amqp_frame_t& into, std::chrono::steady_clock::time_point until);
    /// Frees what the frames of a channel pointed to, unless some are still queued.
    void forget_frames(amqp_channel_t channel) noexcept;

    /// Opens a channel, under a number that was not used lately: frames of the last one may still lie queued.
    amqp_channel_t open_channel();
    /// Closes it; what is unsettled there returns to its queue.
    void close_channel(amqp_channel_t channel);
    /// Sets a number free whose channel the server has closed, and confirms that.
    void channel_gone(amqp_channel_t channel);

    /// Sends a method and waits for its answer; frames of other kinds stay queued for `next`. Waits for ten seconds at
    /// most. Throws `channel_failed` where the server refuses: then the channel is gone.
    /// @return  The decoded answer; valid until `forget_frames`.
    template <class Answer>
    const Answer& call(amqp_channel_t channel, amqp_method_number_t id, void* method, amqp_method_number_t answer) {
        return *static_cast<const Answer*>(call_any(channel, id, method, answer));
    }
    /// As `call`; where two answers are possible, says which it was.
    amqp_method_t call_either(amqp_channel_t channel, amqp_method_number_t id, void* method, amqp_method_number_t one,
                              amqp_method_number_t other);
    /// Sends a method without waiting for an answer.
    void send(amqp_channel_t channel, amqp_method_number_t id, void* method);
    void publish(amqp_channel_t channel, std::string_view exchange, std::string_view routing_key, bool mandatory,
                 const amqp_basic_properties_t& properties, std::span<const std::byte> body);
    void ack(amqp_channel_t channel, std::uint64_t tag, bool multiple);
    /// Gives a delivery back to its queue.
    void requeue(amqp_channel_t channel, std::uint64_t tag, bool multiple);

    /// Gathers messages and acknowledgements from here on; or sends what was gathered. What cannot be sent is lost with
    /// the connection: the next call says so.
    void cork(bool on) noexcept;
    /// Ends the connection from outside: whoever waits in a call of it is woken.
    void cut() noexcept;
    /// Says goodbye to the server. Blocks for a second at most.
    void close() noexcept;

private:
    struct destroy {
        void operator()(amqp_connection_state_t state) const noexcept { amqp_destroy_connection(state); }
    };
    using handle = std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, destroy>;

    connection(handle state, std::string peer) : state_(std::move(state)), peer_(std::move(peer)) {}
    void log_in(const rabbitmq::config& settings, std::string_view purpose);
    void read_facts();
    bool take_next(amqp_frame_t& into, const timeval& patience);
    const void* call_any(amqp_channel_t channel, amqp_method_number_t id, void* method, amqp_method_number_t answer);
    [[noreturn]] void fail(int status, const char* doing) const;
    void settle(amqp_channel_t channel, amqp_method_number_t id, const void* how, const char* doing);
    void flush();
    void flush_if_much();
    void wait_writable();
    void before_sending() noexcept;
    void set_cork(bool on) noexcept;
    void check(int status, const char* doing) const {
        if (status < 0) fail(status, doing);
    }

    handle state_;
    std::string peer_;
    server_facts server_;
    int descriptor_ = -1;
    std::size_t header_room_ = 0;
    bool gathers_ = false;        ///< Frames are made here and sent together: only without TLS.
    frame_writer out_;            ///< Not sent yet.
    int batched_ = -1;            ///< Sent since `cork`; -1: not asked for.
    std::vector<bool> channels_;  ///< Which numbers are taken; 0 always.
    std::size_t last_channel_ = 0;
};

/// Sends what is written in its scope in as few packets as it fits.
class corked {
public:
    explicit corked(connection& on) noexcept : on_(on) { on_.cork(true); }
    corked(const corked&) = delete;
    corked& operator=(const corked&) = delete;
    ~corked() { on_.cork(false); }

private:
    connection& on_;
};

inline amqp_bytes_t bytes_of(std::string_view text) noexcept {
    return {text.size(), const_cast<char*>(text.data())};  // NOLINT: rabbitmq-c reads only
}
inline std::string_view text_of(const amqp_bytes_t& bytes) noexcept {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

}  // namespace shove::rabbitmq_backend
