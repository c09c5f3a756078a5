#pragma once

#include <shove/autoscaler.hpp>
#include <shove/batch.hpp>
#include <shove/broadcast.hpp>
#include <shove/consumer_options.hpp>
#include <shove/detail/asio_forms.hpp>
#include <shove/detail/batch_handler.hpp>
#include <shove/detail/capability.hpp>
#include <shove/detail/handler.hpp>
#include <shove/detail/unique_function.hpp>
#include <shove/run_outcome.hpp>
#include <shove/topic.hpp>

#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

namespace shove {

namespace detail {

class broker_core;
class group_core;

/// Gives each consumer of a registration its handler.
using handler_factory = unique_function<std::shared_ptr<handler_base>()>;

/// What a group consumes and how, its handler apart.
struct registration {
    std::shared_ptr<const queue_topology> topology;
    consumer_options options{};
    bool dead = false;                             ///< Its dead letters instead.
    std::optional<batch_options> batch{};          ///< In batches.
    std::optional<broadcast_options> broadcast{};  ///< As a subscriber of a broadcast.
};

/// The untyped group. Thread-safe.
class group_handle {
public:
    group_handle(std::shared_ptr<broker_core> broker, consumer_options defaults);

    /// One handler for all consumers of the registration.
    void add(registration what, std::shared_ptr<handler_base> handler);
    /// One for each.
    void add_each(registration what, handler_factory factory);
    void enable_autoscaling(autoscaler_options options);
    void start();
    run_outcome stop(milliseconds drain);
    run_outcome run_until(std::stop_token stop, milliseconds drain);
    run_outcome run_until_timeout(milliseconds duration, milliseconds drain);
    run_outcome run_until_signal(milliseconds drain);
    void async_run(std::stop_token stop, milliseconds drain,
                   boost::asio::any_completion_handler<void(error_code, run_outcome)> done) const;
    consumer_stats stats(std::string_view queue) const;

private:
    std::shared_ptr<group_core> core_;
};

struct group_run_op {
    group_handle handle;
    template <class Done>
    void operator()(Done done, std::stop_token stop, milliseconds drain) const {
        handle.async_run(std::move(stop), drain, std::move(done));
    }
};

/// What a factory of handlers makes.
template <class F>
using made_by = std::decay_t<std::invoke_result_t<F&>>;

}  // namespace detail

/// A set of consumers that start together and are drained together. A consumer that ends by an error is replaced,
/// after a pause; the error is counted in the run's outcome.
/// Handlers are called for several messages at once, also the same handler object: it must be safe for
/// that (options `.sequential()` with one consumer: one call at a time).
/// A plain handler runs on a worker thread and may block; a coroutine runs on the broker's executor
/// and must not.
/// @par Thread safety  All members may be called from several threads.
/// @par Errors  `add` throws `exception`: `invalid_argument`, `unsupported`. `start` and the `run` forms
///   throw what declaring and subscribing report, if it cannot be retried.
template <class B>
class consumer_group {
public:
    explicit consumer_group(std::shared_ptr<detail::broker_core> core, consumer_options defaults = {})
        : core_(std::move(core), std::move(defaults)) {}

    /// Consumes topic `T`; its topology is declared at the start.
    /// @param handler  `outcome(message)` or `outcome(message, const delivery&)`, plain or a coroutine
    ///                 (`asio::awaitable<outcome>`; include <shove/async.hpp>). What it throws counts as retry.
    template <topic_type T, class H>
    consumer_group& add(H handler, consumer_options options = {}) {
        detail::check_capabilities<B, T>();
        static_assert(!T::topology.is_broadcast(), "add<T>: topic T is a broadcast; use add_broadcast<T>");
        static_assert(detail::callable_with<H, typename T::message_type>,
                      "add<T>: the handler must take topic T's message_type, alone or with a const shove::delivery&");
        static_assert(detail::message_handler<H, T>,
                      "add<T>: the handler must return shove::outcome or asio::awaitable<shove::outcome>");
        core_.add({detail::topology_of<T>(), std::move(options)}, detail::erase_handler<T>(std::move(handler)));
        return *this;
    }

    /// As `add`, each consumer with a handler of its own: `factory()` is called once per consumer and gives it. So a
    /// handler may keep a connection or a buffer; with `.sequential()` it is never called twice at a time.
    /// The first ones are made in `start`, which passes on what the factory throws (`async_run` logs it and
    /// completes with `cancelled`); those of consumers that are added or replaced later on the broker's supervising
    /// thread, where that is logged and tried again later.
    template <topic_type T, class F>
    consumer_group& add_each(F factory, consumer_options options = {}) {
        detail::check_capabilities<B, T>();
        static_assert(!T::topology.is_broadcast(), "add_each<T>: topic T is a broadcast; use add_broadcast<T>");
        static_assert(std::invocable<F&>, "add_each<T>: the factory must be callable without arguments");
        using handler = detail::made_by<F>;
        static_assert(detail::callable_with<handler, typename T::message_type>,
                      "add_each<T>: the factory's handler must take topic T's message_type, alone or with a const "
                      "shove::delivery&");
        static_assert(detail::message_handler<handler, T>,
                      "add_each<T>: the factory's handler must return shove::outcome or "
                      "asio::awaitable<shove::outcome>");
        core_.add_each({detail::topology_of<T>(), std::move(options)}, [factory = std::move(factory)]() mutable {
            return detail::erase_handler<T, handler>(factory());
        });
        return *this;
    }

    /// Consumes topic `T` in batches: see `batch_options` for when one is handed over, `batch` for what the handler
    /// is given. At a drain, what has been collected is handed over as a last batch.
    /// @param handler  `answer(batch<message>&)` or `answer(std::span<message>)`, where the answer is one `outcome` for
    ///                 all, or `outcomes`: one for each message, in order. Plain or a coroutine. What it throws, or
    ///                 a wrong number of outcomes, counts as retry for all. Each message has its own budget of
    ///                 retries and its own delay. What cannot be decoded, is too large or has expired never reaches
    ///                 the handler: it is dead-lettered alone.
    /// @param options  `prefetch` is what a consumer holds: `2 * max_messages` unless given here, never less than
    ///                 `max_messages`. Each consumer handles `prefetch / max_messages` batches at once, one if
    ///                 `sequential()`. `handler_timeout` is the time for one batch.
    template <topic_type T, class H>
    consumer_group& add_batch(H handler, batch_options batch = {}, consumer_options options = {}) {
        check_batch<T, H>();
        core_.add({detail::topology_of<T>(), std::move(options), false, batch},
                  detail::erase_batch_handler<T>(std::move(handler)));
        return *this;
    }
    /// As `add_batch`, each consumer with a handler of its own; see `add_each`.
    template <topic_type T, class F>
    consumer_group& add_batch_each(F factory, batch_options batch = {}, consumer_options options = {}) {
        static_assert(std::invocable<F&>, "add_batch_each<T>: the factory must be callable without arguments");
        using handler = detail::made_by<F>;
        check_batch<T, handler>();
        core_.add_each(
            {detail::topology_of<T>(), std::move(options), false, batch},
            [factory = std::move(factory)]() mutable { return detail::erase_batch_handler<T, handler>(factory()); });
        return *this;
    }

    /// Subscribes to the broadcast topic `T`: once the group has started, the handler gets every message published from
    /// then on, one at a time, in order, whoever else subscribes. `ack` is done with it; `defer` gets the same
    /// message again after a second, before all others; anything else, an exception and a timeout included, discards
    /// it, which is logged and counted (`consumer_stats::discarded`). Whatever the options say there is one consumer
    /// with a prefetch of 1, and no retries. One that is replaced after an error subscribes anew, and may miss what
    /// is published in between.
    template <topic_type T, class H>
    consumer_group& add_broadcast(H handler, broadcast_options broadcast = {}, consumer_options options = {}) {
        detail::check_capabilities<B, T>();
        static_assert(T::topology.is_broadcast(), "add_broadcast<T>: topic T is no broadcast(); use add<T>");
        static_assert(detail::callable_with<H, typename T::message_type>,
                      "add_broadcast<T>: the handler must take topic T's message_type, alone or with a const "
                      "shove::delivery&");
        static_assert(detail::message_handler<H, T>,
                      "add_broadcast<T>: the handler must return shove::outcome or asio::awaitable<shove::outcome>");
        core_.add({detail::topology_of<T>(), std::move(options), false, {}, broadcast},
                  detail::erase_handler<T>(std::move(handler)));
        return *this;
    }

    /// Consumes topic `T`'s dead letters: `outcome(const dead_letter<message>&)`. `ack` removes the
    /// letter; anything else, and an exception, leaves it to be handled again after a pause. Letters that cannot
    /// be decoded come with no message. Nothing is lost or counted against a budget here.
    template <topic_type T, class H>
    consumer_group& add_dead(H handler, consumer_options options = {}) {
        static_assert(T::topology.has_dlq(), "add_dead<T>: topic T has no dead-letter queue; give it .dlq()");
        static_assert(detail::dead_handler<H, T>,
                      "add_dead<T>: the handler must take a const shove::dead_letter<T's message_type>& and return "
                      "shove::outcome or asio::awaitable<shove::outcome>");
        core_.add({detail::topology_of<T>(), std::move(options), true},
                  detail::erase_dead_handler<T>(std::move(handler)));
        return *this;
    }

    /// Consumes a topic known only at run time: `outcome(std::span<const std::byte>, const delivery&)`.
    consumer_group& add(const runtime_topic& topic, detail::raw_function handler, consumer_options options = {}) {
        core_.add({topic.topology, std::move(options)}, detail::erase_raw_handler(topic, std::move(handler), false));
        return *this;
    }
    /// As `add_each`, of a topic known only at run time.
    template <class F>
        requires std::is_invocable_r_v<detail::raw_function, F&>
    consumer_group& add_each(const runtime_topic& topic, F factory, consumer_options options = {}) {
        core_.add_each({topic.topology, std::move(options)}, [topic, factory = std::move(factory)]() mutable {
            return detail::erase_raw_handler(topic, factory(), false);
        });
        return *this;
    }
    /// As `add_batch`, of a topic known only at run time: `outcomes(batch<std::span<const std::byte>>&)`.
    consumer_group& add_batch(const runtime_topic& topic, detail::raw_batch_function handler, batch_options batch = {},
                              consumer_options options = {}) {
        core_.add({topic.topology, std::move(options), false, batch},
                  detail::erase_raw_batch_handler(topic, std::move(handler)));
        return *this;
    }
    /// As `add_broadcast`, of a topic known only at run time.
    consumer_group& add_broadcast(const runtime_topic& topic, detail::raw_function handler,
                                  broadcast_options broadcast = {}, consumer_options options = {}) {
        core_.add({topic.topology, std::move(options), false, {}, broadcast},
                  detail::erase_raw_handler(topic, std::move(handler), false));
        return *this;
    }
    /// Consumes the dead letters of a topic known only at run time.
    consumer_group& add_dead(const runtime_topic& topic, detail::raw_function handler, consumer_options options = {}) {
        core_.add({topic.topology, std::move(options), true},
                  detail::erase_raw_handler(topic, std::move(handler), true));
        return *this;
    }

    /// Lets registrations whose `consumers` are a range follow their load, each on its own: they start with `min`.
    /// Before `start`. See `autoscaler_options`. Throws `exception`: `invalid_argument`.
    consumer_group& enable_autoscaling(autoscaler_options options = {}) {
        core_.enable_autoscaling(std::move(options));
        return *this;
    }

    /// Declares the topologies and starts the consumers; returns once they are subscribed. Blocks.
    void start() { core_.start(); }
    /// Drains: stops fetching, gives back what was not started, waits for running handlers, settles, closes;
    /// ends after `drain` at the latest. Blocks. The broker stays open.
    run_outcome stop(milliseconds drain) { return core_.stop(drain); }
    /// Starts, waits for the stop token (or until the broker is closed), drains. Blocks.
    run_outcome run_until(std::stop_token stop, milliseconds drain) { return core_.run_until(std::move(stop), drain); }
    /// Starts, waits for so long (or until the broker is closed), drains. Blocks.
    run_outcome run_until_timeout(milliseconds duration, milliseconds drain) {
        return core_.run_until_timeout(duration, drain);
    }
    /// Starts, waits for SIGINT or SIGTERM, drains; a second signal, 200 ms later or more, ends the drain
    /// at once. Blocks. The signals are handled only while this runs.
    run_outcome run_until_signal(milliseconds drain) { return core_.run_until_signal(drain); }
    /// As `run_until`; completes with `void(error_code, run_outcome)`. Cancellation: by the stop token.
    template <class Token>
    auto async_run(std::stop_token stop, milliseconds drain, Token&& token) {
        return detail::please_include_shove_async_hpp<void(error_code, run_outcome), Token>(
            detail::group_run_op{core_}, token, std::move(stop), drain);
    }

    /// Counts of the registration for that queue (the dead-letter queue's name for `add_dead`, `{queue}-{group}` for a
    /// reader group), summed over its consumers.
    consumer_stats stats(std::string_view queue) const { return core_.stats(queue); }
    template <topic_type T>
    consumer_stats stats() const {
        return stats(detail::topology_of<T>()->reader_queue);
    }

private:
    template <class T, class H>
    static consteval void check_batch() {
        detail::check_capabilities<B, T>();
        static_assert(!T::topology.is_broadcast(), "add_batch<T>: topic T is a broadcast; use add_broadcast<T>");
        static_assert(!T::topology.is_sequenced(),
                      "add_batch<T>: topic T is sequenced, and a batch would join its keys; use add<T>");
        static_assert(detail::batch_callable<H, typename T::message_type>,
                      "add_batch<T>: the handler must take a shove::batch<T's message_type>& or a std::span of them");
        static_assert(detail::batch_handler<H, T>,
                      "add_batch<T>: the handler must return shove::outcome, shove::outcomes or an asio::awaitable of "
                      "one of them");
    }

    detail::group_handle core_;
};

}  // namespace shove
