#pragma once

#include <shove/clock.hpp>
#include <shove/detail/asio_forms.hpp>
#include <shove/detail/capability.hpp>
#include <shove/headers.hpp>
#include <shove/spi/driver.hpp>
#include <shove/topic.hpp>

#include <concepts>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace shove {

struct trace_context;
class span;

/// What a publish does when the queue has no room.
enum class when_full : std::uint8_t {
    wait,  ///< Waits for room until the timeout.
    fail,  ///< Fails at once with `errc::queue_full`.
};

/// How one message (or each message of a batch) is published.
struct publish_options {
    shove::headers headers{};                  ///< Names with a reserved prefix are refused.
    std::string id{};                          ///< At most 255 bytes; empty: a new UUID.
    std::optional<std::string> key{};          ///< Sequence or partition key; over the topic's `sequence_key`.
    milliseconds delay{0};                     ///< Not handed out before this has passed.
    std::optional<milliseconds> expires_in{};  ///< After this it is dead-lettered unhandled, reason `expired`.
    shove::when_full when_full = when_full::wait;
    milliseconds timeout{30'000};  ///< For room and confirmation together.
    /// The trace that this publish belongs to: of a handler, `delivery::trace()`. Null: what the headers say, else
    /// none.
    std::shared_ptr<const trace_context> trace{};
};

/// Proof that the broker has stored a message.
class receipt {
public:
    receipt() = default;
    explicit receipt(message stored) noexcept : stored_(std::move(stored)) {}
    /// The message's id.
    std::string id() const { return stored_.id(); }

private:
    message stored_;
};

using publish_status = spi::publish_status;

/// What became of one message of a batch.
struct publish_state {
    publish_status status = publish_status::not_attempted;
    error cause;     ///< Set unless `status` is ok.
    std::string id;  ///< Empty where the message could not even be made.
};

/// What became of a batch, message by message.
struct batch_report {
    std::vector<publish_state> each;

    std::size_t count(publish_status status) const noexcept;
    bool all_stored() const noexcept { return count(publish_status::ok) == each.size(); }
    /// The places of the messages that must be published again for each to be stored at least once.
    std::vector<std::size_t> to_republish() const;
    /// The first error, or none.
    error first_error() const;
};

/// A message with options of its own, for a batch.
template <topic_type T>
struct outgoing {
    typename T::message_type message;
    publish_options options;
};

namespace detail {

class broker_core;

/// What the engine must know of a topic to publish to it.
struct topic_info {
    std::shared_ptr<const queue_topology> topology;
    std::string_view content_type;
    std::string_view type;
};

/// Messages ready to go, or the errors that keep them from it.
struct prepared_batch {
    std::shared_ptr<const queue_topology> topology;
    std::vector<publish_state> states;            ///< One per message asked for.
    std::vector<spi::outgoing> messages;          ///< One per message that could be made,
    std::vector<std::size_t> places;              ///< with its place in `states`.
    std::unordered_set<std::string> broken_keys;  ///< Sequenced: keys of which an earlier message could not be made.
    shove::when_full when_full = when_full::wait;
    milliseconds timeout{30'000};
    std::shared_ptr<span> traced{};                        ///< The span of the publish, where there is a tracer,
    std::shared_ptr<const trace_context> traced_parent{};  ///< and the context that it began in.
};

void reserve(prepared_batch& batch, std::size_t messages);

/// The untyped publisher. Thread-safe.
class publisher_core {
public:
    explicit publisher_core(std::shared_ptr<broker_core> core) noexcept : core_(std::move(core)) {}

    /// Makes a message and adds it; an error becomes its state.
    void prepare(prepared_batch& into, const topic_info& topic, result<std::string_view> payload,
                 const publish_options& options) const;
    result<receipt> publish_one(prepared_batch batch) const;
    batch_report publish_all(prepared_batch batch) const;
    void async_one(prepared_batch batch, boost::asio::any_completion_handler<void(error_code, receipt)> done) const;
    void async_all(prepared_batch batch,
                   boost::asio::any_completion_handler<void(error_code, batch_report)> done) const;
    /// The delay from now until `when`, never negative.
    milliseconds until(wall_time when) const;

private:
    void prepare_one(prepared_batch& into, publish_state& state, const topic_info& topic,
                     result<std::string_view> payload, const publish_options& options) const;
    void start(prepared_batch batch, unique_function<void(prepared_batch)> done) const;
    std::shared_ptr<broker_core> core_;
};

struct publish_one_op {
    publisher_core core;
    template <class Done>
    void operator()(Done done, prepared_batch batch) const {
        core.async_one(std::move(batch), std::move(done));
    }
};

struct publish_all_op {
    publisher_core core;
    template <class Done>
    void operator()(Done done, prepared_batch batch) const {
        core.async_all(std::move(batch), std::move(done));
    }
};

/// A range whose elements are of type `M` or stand for one. (Not by <ranges>, which costs every user a fifth of a
/// second.)
template <class R, class M>
concept range_of = requires(R& range) {
    { std::begin(range) != std::end(range) } -> std::convertible_to<bool>;
    { *std::begin(range) } -> std::convertible_to<const M&>;
};

template <topic_type T>
topic_info info_of() {
    return {topology_of<T>(), T::codec_type::content_type, type_name<typename T::message_type>()};
}

}  // namespace detail

/// Publishes messages; cheap to copy, copies share everything.
/// @tparam B  The backend's tag, or `any_backend` (see `open`): then what the backend lacks is
///            `errc::unsupported` at run time.
/// @par Thread safety  All members may be called from several threads.
/// @par Errors  `encode_failed`, `reserved_header`, `too_large`, `unknown_queue`, `queue_full`,
///   `timed_out` (fate unknown), `not_connected`, `closed`, and what the backend adds. The blocking forms
///   throw `exception`; the `try_` forms and the `async_` forms give the error as a value.
/// @par Cancellation  The `async_` forms cannot be cancelled: they end by the timeout of their options.
template <class B>
class publisher {
public:
    explicit publisher(std::shared_ptr<detail::broker_core> core) noexcept : core_(std::move(core)) {}

    /// Publishes one message; returns when the broker has stored it. Blocks.
    template <topic_type T>
    receipt publish(const typename T::message_type& message, const publish_options& options = {}) const {
        return try_publish<T>(message, options).value();
    }
    /// Chosen when the message is not of the topic's type: does not compile, and says why.
    template <topic_type T, class M>
        requires(!std::convertible_to<const M&, const typename T::message_type&>)
    receipt publish(const M&, const publish_options& = {}) const {
        static_assert(std::convertible_to<const M&, const typename T::message_type&>,
                      "publish<T>: the message is not of topic T's message_type");
        return {};
    }
    /// As `publish`, with the error as a value.
    template <topic_type T>
    result<receipt> try_publish(const typename T::message_type& message, const publish_options& options = {}) const {
        return core_.publish_one(prepare<T>(message, options));
    }
    /// As `publish`; completes with `void(error_code, receipt)`. The message is encoded before this returns.
    template <topic_type T, class Token>
    auto async_publish(const typename T::message_type& message, const publish_options& options, Token&& token) const {
        return detail::please_include_shove_async_hpp<void(error_code, receipt), Token>(
            detail::publish_one_op{core_}, token, prepare<T>(message, options));
    }

    /// Publishes a message that is handed out no earlier than `delay` from now.
    template <topic_type T>
        requires(detail::offers<B>(&spi::capabilities::delayed_publish))
    receipt publish_in(milliseconds delay, const typename T::message_type& message,
                       publish_options options = {}) const {
        options.delay = delay;
        return publish<T>(message, options);
    }
    /// Publishes a message that is handed out no earlier than `when`.
    template <topic_type T>
        requires(detail::offers<B>(&spi::capabilities::delayed_publish))
    receipt publish_at(wall_time when, const typename T::message_type& message, publish_options options = {}) const {
        options.delay = core_.until(when);
        return publish<T>(message, options);
    }

    /// Publishes messages in order, in one go; returns when each has its fate. Blocks. Never throws for
    /// a message: each has a state of its own.
    template <topic_type T, detail::range_of<typename T::message_type> Messages>
    batch_report publish_batch(Messages&& messages, const publish_options& options = {}) const {
        return core_.publish_all(prepare_range<T>(messages, options));
    }
    /// As above; each message has options of its own (timeout and when_full are those of the first).
    template <topic_type T>
    batch_report publish_batch(std::span<const outgoing<T>> messages) const {
        return core_.publish_all(prepare_each<T>(messages));
    }
    /// As `publish_batch`; completes with `void(error_code, batch_report)`: the code is the first error.
    template <topic_type T, detail::range_of<typename T::message_type> Messages, class Token>
    auto async_publish_batch(Messages&& messages, const publish_options& options, Token&& token) const {
        return detail::please_include_shove_async_hpp<void(error_code, batch_report), Token>(
            detail::publish_all_op{core_}, token, prepare_range<T>(messages, options));
    }

    /// Publishes bytes to a topic known only at run time. Blocks.
    receipt publish(const runtime_topic& topic, std::string_view body, const publish_options& options = {}) const {
        return try_publish(topic, body, options).value();
    }
    result<receipt> try_publish(const runtime_topic& topic, std::string_view body,
                                const publish_options& options = {}) const {
        auto batch = batch_for(options, topic.topology);
        add(batch, topic, body, options);
        return core_.publish_one(std::move(batch));
    }
    /// A body with options of its own, for a batch to a run-time topic.
    struct raw_outgoing {
        std::string_view body;
        publish_options options;
    };
    batch_report publish_batch(const runtime_topic& topic, std::span<const raw_outgoing> messages) const {
        auto batch = batch_for(messages.empty() ? publish_options{} : messages[0].options, topic.topology);
        for (const auto& m : messages)
            add(batch, topic, m.body, m.options);
        return core_.publish_all(std::move(batch));
    }

private:
    static detail::prepared_batch batch_for(const publish_options& options, std::shared_ptr<const queue_topology> t) {
        detail::prepared_batch batch;
        batch.topology = std::move(t);
        batch.when_full = options.when_full;
        batch.timeout = options.timeout;
        return batch;
    }
    void add(detail::prepared_batch& batch, const runtime_topic& topic, std::string_view body,
             const publish_options& options) const {
        const detail::topic_info info{topic.topology, topic.content_type, topic.type};
        const auto checked = topic.check ? topic.check(std::as_bytes(std::span(body))) : result<void>();
        core_.prepare(batch, info, checked ? result<std::string_view>(body) : checked.error(), options);
    }
    template <topic_type T>
    void add(detail::prepared_batch& batch, const typename T::message_type& message, std::string& buffer,
             const publish_options& options) const {
        buffer.clear();
        const auto encoded = T::codec_type::encode(message, buffer);
        const auto payload = encoded ? result<std::string_view>(buffer) : encoded.error();
        if constexpr (detail::has_sequence_key<T>) {
            if (!options.key) {
                auto keyed = options;
                keyed.key = detail::sequence_key_of<T>(message);
                return core_.prepare(batch, detail::info_of<T>(), payload, keyed);
            }
        }
        core_.prepare(batch, detail::info_of<T>(), payload, options);
    }
    template <topic_type T>
    detail::prepared_batch prepare(const typename T::message_type& message, const publish_options& options) const {
        detail::check_capabilities<B, T>();
        auto batch = batch_for(options, detail::topology_of<T>());
        std::string buffer;
        buffer.reserve(256);
        add<T>(batch, message, buffer, options);
        return batch;
    }
    template <topic_type T, class Messages>
    detail::prepared_batch prepare_range(Messages&& messages, const publish_options& options) const {
        detail::check_capabilities<B, T>();
        auto batch = batch_for(options, detail::topology_of<T>());
        std::string buffer;
        for (const typename T::message_type& m : messages)
            add<T>(batch, m, buffer, options);
        return batch;
    }
    template <topic_type T>
    detail::prepared_batch prepare_each(std::span<const outgoing<T>> messages) const {
        detail::check_capabilities<B, T>();
        auto batch = batch_for(messages.empty() ? publish_options{} : messages[0].options, detail::topology_of<T>());
        std::string buffer;
        for (const auto& m : messages)
            add<T>(batch, m.message, buffer, m.options);
        return batch;
    }

    detail::publisher_core core_;
};

}  // namespace shove
