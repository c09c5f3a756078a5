#pragma once

#include <shove/codec.hpp>
#include <shove/detail/type_name.hpp>
#include <shove/json.hpp>
#include <shove/topology.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace shove {

/// Base of a topic type: binds a message type and a codec. The topic adds its layout:
/// @code
/// struct orders : shove::topic<order_paid> {
///     static constexpr auto topology = shove::topology("orders").hold(5s).dlq();
/// };
/// @endcode
/// A sequenced topic also says what its messages are ordered by:
/// `static constexpr auto sequence_key = &order_paid::customer;` (or a function of the message).
template <class Message, class Codec = json>
struct topic {
    using message_type = Message;
    using codec_type = Codec;
};

/// A type with a message type, a codec for it and a constant `topology`.
template <class T>
concept topic_type = requires {
    typename T::message_type;
    typename T::codec_type;
    { T::topology } -> std::convertible_to<const topology&>;
} && codec_for<typename T::codec_type, typename T::message_type>;

namespace detail {

template <class T>
concept has_sequence_key = requires { T::sequence_key; };

/// The text of a key: texts as they are, integers in decimal.
template <class V>
std::string key_text(const V& value) {
    if constexpr (std::convertible_to<const V&, std::string_view>) {
        return std::string(std::string_view(value));
    } else {
        static_assert(std::integral<V>, "sequence_key of T must give a text or an integer");
        return std::to_string(value);
    }
}

/// The sequence key of a message, by the topic's `sequence_key`: a pointer to a member, or a function of the message.
template <class T>
std::string sequence_key_of(const typename T::message_type& message) {
    return key_text<std::remove_cvref_t<decltype(std::invoke(T::sequence_key, message))>>(
        std::invoke(T::sequence_key, message));
}

/// Compile-time checks of a topic. A broken rule is an error whose notes name the topic as `T`.
template <class T>
struct checked_topic {
    static_assert(topic_type<T>,
                  "T is not a topic: derive it from shove::topic<Message> and give it "
                  "`static constexpr auto topology = shove::topology(\"name\")...`");
    static constexpr topology_rule broken = T::topology.violated();
    static_assert(broken != topology_rule::name_empty, "topology of T: the queue name is empty; give it one");
    static_assert(broken != topology_rule::name_too_long, "topology of T: a queue name is over 200 bytes");
    static_assert(broken != topology_rule::name_characters,
                  "topology of T: a queue name may hold printable ASCII without spaces only");
    static_assert(broken != topology_rule::hold_not_positive,
                  "topology of T: a hold delay is under one millisecond; make it longer");
    static_assert(broken != topology_rule::too_many_holds, "topology of T: more than 16 hold tiers; use fewer");
    static_assert(broken != topology_rule::dlq_is_queue,
                  "topology of T: the dead-letter queue has the queue's own name; give dlq_named() another");
    static_assert(broken != topology_rule::reader_group_blank,
                  "topology of T: for_consumer_group() got a blank name; give it one");
    static_assert(broken != topology_rule::reader_group_taken,
                  "topology of T: for_consumer_group() got the name of another queue of the topic (dlq, hold-..., "
                  "seq-...); give it another");
    static_assert(broken != topology_rule::broadcast_extras,
                  "topology of T: broadcast() excludes dlq, hold, sequenced and for_consumer_group");
    static_assert(broken != topology_rule::external_sequenced,
                  "topology of T: external() excludes sequenced(); remove one of them");
    static_assert(broken != topology_rule::sequenced_needs_dlq,
                  "topology of T: sequenced() needs dlq() and a hold(); add them or allow_message_loss()");
    static_assert(!T::topology.is_sequenced() || has_sequence_key<T>,
                  "topic T is sequenced and has no key: give it `static constexpr auto sequence_key = "
                  "&message_type::member;` or a function of the message");
    static_assert(broken != topology_rule::shards_zero, "topology of T: routing_shards() must be at least 1");
    static_assert(broken != topology_rule::shards_unsequenced,
                  "topology of T: routing_shards() needs sequenced(); add it");
};

/// The run-time form of a topic's topology, made once per topic type.
template <class T>
const std::shared_ptr<const queue_topology>& topology_of() {
    static_assert(sizeof(checked_topic<T>) > 0);
    static const auto made = queue_topology::make(T::topology).value();
    return made;
}

}  // namespace detail

/// A topic known only at run time: what the command line uses. Messages are bytes.
struct runtime_topic {
    std::shared_ptr<const queue_topology> topology;
    std::string content_type = "application/octet-stream";
    std::string type;
    /// Checks bytes on their way out and in; empty: any bytes. An error counts as a codec's error.
    std::function<result<void>(std::span<const std::byte>)> check;

    /// Checks the rules. Error: `errc::invalid_topology`.
    static result<runtime_topic> make(const shove::topology& spec);
};

}  // namespace shove
