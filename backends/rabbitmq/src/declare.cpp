#include <amqp.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "layout.hpp"

// Layouts, as declarations to a server.

namespace shove::rabbitmq_backend {
namespace {

/// A small table, written down before it is sent.
class arguments {
public:
    void add(const char* key, std::string_view text) {
        auto& value = next(key, AMQP_FIELD_KIND_UTF8);
        value.value.bytes = bytes_of(text);
    }
    void add(const char* key, std::int64_t number) {
        auto& value = next(key, AMQP_FIELD_KIND_I64);
        value.value.i64 = number;
    }
    void add_true(const char* key) {
        auto& value = next(key, AMQP_FIELD_KIND_BOOLEAN);
        value.value.boolean = 1;
    }
    amqp_table_t table() noexcept { return {static_cast<int>(count_), entries_.data()}; }

private:
    amqp_field_value_t& next(const char* key, amqp_field_value_kind_t kind) {
        auto& made = entries_.at(count_++);
        made.key = amqp_cstring_bytes(key);
        made.value.kind = static_cast<std::uint8_t>(kind);
        return made.value;
    }
    std::array<amqp_table_entry_t, 12> entries_{};
    std::size_t count_ = 0;
};

arguments arguments_of(const queue_layout& what, std::uint32_t server_major) {
    arguments made;
    const bool quorum = what.type == rabbitmq::queue_type::quorum;
    if (quorum) made.add("x-queue-type", "quorum");
    if (what.dead_letter_key) {
        made.add("x-dead-letter-exchange", what.dead_letter_exchange);
        made.add("x-dead-letter-routing-key", *what.dead_letter_key);
    }
    if (what.ttl) made.add("x-message-ttl", what.ttl->count());
    if (what.unused) made.add("x-expires", what.unused->count());
    if (what.single_active) made.add_true("x-single-active-consumer");
    if (quorum && what.ttl && what.dead_letter_key) {
        // What expires leaves only when its next queue has confirmed it.
        made.add("x-dead-letter-strategy", "at-least-once");
        made.add("x-overflow", "reject-publish");
    }
    // From 4.0 on the server would drop, or dead-letter without our story, what was given back twenty times.
    if (quorum && server_major >= 4) made.add("x-delivery-limit", std::int64_t{-1});
    return made;
}

/// What to do about an argument that the server's words name: `inequivalent arg 'x-queue-type' for queue 'q' …`.
std::string remedy_for(const std::string& words, bool quorum) {
    const auto names = [&](const char* argument) { return words.find(argument) != words.npos; };
    // Of ours a quorum queue has none of these; the server looks at them before the type.
    if (names("'x-dead-letter-") && quorum) return "It looks like a classic queue: give queues=classic in the URL";
    if (names("'x-dead-letter-") && names("current is none"))
        return "It has no dead-letter queue there, or is a quorum queue: declare none, or give queues=quorum in the "
               "URL";
    if (names("'x-dead-letter-")) return "Declare its dead-letter queue as it is: dlq() or dlq_named(), --dlq[-named]";
    if (names("'x-queue-type'")) return "Give its type by the URL's option 'queues'";
    return "Declare it as it is (option 'queues' for the queue type, holds and dlq in the topology)";
}

error mismatch(const std::string& what, const error& why, bool quorum) {
    return {errc::topology_mismatch, what + " exists with other settings: " + why.detail + ". " +
                                         remedy_for(why.detail, quorum) + ", or empty and delete it first"};
}

template <class Call>
void explained(const std::string& what, bool quorum, Call&& call) {
    try {
        call();
    } catch (channel_failed& failed) {
        if (failed.cause == errc::topology_mismatch) failed.cause = mismatch(what, failed.cause, quorum);
        if (failed.code == AMQP_COMMAND_INVALID) {
            failed.cause = error(errc::unsupported,
                                 what +
                                     ": the server does not know exchanges of type x-consistent-hash, which sequenced "
                                     "topics need; run: rabbitmq-plugins enable rabbitmq_consistent_hash_exchange");
        }
        throw;
    }
}

void declare(ask_channel& over, const exchange_layout& what) {
    amqp_exchange_declare_t method{};
    method.exchange = bytes_of(what.name);
    method.type = bytes_of(what.type);
    method.durable = 1;
    arguments with;
    if (!what.alternate.empty()) with.add("alternate-exchange", what.alternate);
    method.arguments = with.table();
    explained("exchange '" + what.name + "'", false, [&] {
        const auto channel = over.number();
        over.on().call<amqp_exchange_declare_ok_t>(channel, AMQP_EXCHANGE_DECLARE_METHOD, &method,
                                                   AMQP_EXCHANGE_DECLARE_OK_METHOD);
        over.on().forget_frames(channel);
    });
}

}  // namespace

void declare(ask_channel& over, const queue_layout& what) {
    auto with = arguments_of(what, over.on().server().major);
    amqp_queue_declare_t method{};
    method.queue = bytes_of(what.name);
    method.durable = 1;
    method.arguments = with.table();
    explained("queue '" + what.name + "'", what.type == rabbitmq::queue_type::quorum, [&] {
        const auto channel = over.number();
        over.on().call<amqp_queue_declare_ok_t>(channel, AMQP_QUEUE_DECLARE_METHOD, &method,
                                                AMQP_QUEUE_DECLARE_OK_METHOD);
        over.on().forget_frames(channel);
    });
}

void declare(ask_channel& over, const binding_layout& what) {
    const auto channel = over.number();
    if (what.to_exchange) {
        amqp_exchange_bind_t method{};
        method.source = bytes_of(what.from);
        method.destination = bytes_of(what.to);
        method.routing_key = bytes_of(what.key);
        over.on().call<amqp_exchange_bind_ok_t>(channel, AMQP_EXCHANGE_BIND_METHOD, &method,
                                                AMQP_EXCHANGE_BIND_OK_METHOD);
    } else {
        amqp_queue_bind_t method{};
        method.exchange = bytes_of(what.from);
        method.queue = bytes_of(what.to);
        method.routing_key = bytes_of(what.key);
        over.on().call<amqp_queue_bind_ok_t>(channel, AMQP_QUEUE_BIND_METHOD, &method, AMQP_QUEUE_BIND_OK_METHOD);
    }
    over.on().forget_frames(channel);
}

void unbind(ask_channel& over, const binding_layout& what) {
    amqp_queue_unbind_t method{};
    method.exchange = bytes_of(what.from);
    method.queue = bytes_of(what.to);
    method.routing_key = bytes_of(what.key);
    const auto channel = over.number();
    over.on().call<amqp_queue_unbind_ok_t>(channel, AMQP_QUEUE_UNBIND_METHOD, &method, AMQP_QUEUE_UNBIND_OK_METHOD);
    over.on().forget_frames(channel);
}

void remove(ask_channel& over, const std::string& queue) {
    amqp_queue_delete_t method{};
    method.queue = bytes_of(queue);
    const auto channel = over.number();
    over.on().call<amqp_queue_delete_ok_t>(channel, AMQP_QUEUE_DELETE_METHOD, &method, AMQP_QUEUE_DELETE_OK_METHOD);
    over.on().forget_frames(channel);
}

void declare(ask_channel& over, const layout& what) {
    for (const auto& exchange : what.exchanges)
        declare(over, exchange);
    for (const auto& queue : what.queues)
        declare(over, queue);
    for (const auto& binding : what.bindings)
        declare(over, binding);
}

std::optional<queue_count> count(ask_channel& over, const std::string& queue) {
    amqp_queue_declare_t method{};
    method.queue = bytes_of(queue);
    method.passive = 1;
    const auto channel = over.number();
    try {
        const auto& ok = over.on().call<amqp_queue_declare_ok_t>(channel, AMQP_QUEUE_DECLARE_METHOD, &method,
                                                                 AMQP_QUEUE_DECLARE_OK_METHOD);
        const queue_count told{ok.message_count, ok.consumer_count};
        over.on().forget_frames(channel);
        return told;
    } catch (const channel_failed& failed) {
        over.gone();
        if (failed.code == AMQP_NOT_FOUND) return std::nullopt;
        throw;
    }
}

std::optional<std::uint32_t> count_ready(ask_channel& over, const std::string& queue) {
    const auto told = count(over, queue);
    return told ? std::optional(told->ready) : std::nullopt;
}

bool has_exchange(ask_channel& over, const std::string& exchange) {
    amqp_exchange_declare_t method{};
    method.exchange = bytes_of(exchange);
    method.type = bytes_of("fanout");
    method.passive = 1;
    const auto channel = over.number();
    try {
        over.on().call<amqp_exchange_declare_ok_t>(channel, AMQP_EXCHANGE_DECLARE_METHOD, &method,
                                                   AMQP_EXCHANGE_DECLARE_OK_METHOD);
        over.on().forget_frames(channel);
        return true;
    } catch (const channel_failed& failed) {
        over.gone();
        if (failed.code == AMQP_NOT_FOUND) return false;
        throw;
    }
}

}  // namespace shove::rabbitmq_backend
