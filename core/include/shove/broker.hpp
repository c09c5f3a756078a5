#pragma once

#include <shove/admin.hpp>
#include <shove/clock.hpp>
#include <shove/consumer_group.hpp>
#include <shove/detail/asio_forms.hpp>
#include <shove/detail/capability.hpp>
#include <shove/event.hpp>
#include <shove/executor.hpp>
#include <shove/health.hpp>
#include <shove/publisher.hpp>
#include <shove/spi/backend.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string_view>

namespace shove {

class metrics;
class tracer;

/// How a broker works inside this process.
struct broker_options {
    /// Threads for plain handlers; 0: the larger of 4 and twice the cores.
    unsigned worker_threads = 0;
    /// Where coroutine handlers and completions run; nothing: a pool of the broker's own.
    broker_executor executor{};
    /// Where time comes from; null: the machine.
    std::shared_ptr<shove::clock> clock{};
    /// Where what people should know goes, one line each; null: warnings and errors to stderr. May be
    /// called from any thread; must not block.
    std::function<void(log_level, std::string_view)> log{};
    /// Told the same with names and fields, for programs (docs/guide/events.md). Same rules as `log`; where it is set
    /// and `log` is not, nothing goes to stderr.
    std::function<void(const event&)> on_event{};
    /// Where measurements are kept; null: nothing is measured. May be shared by several brokers.
    std::shared_ptr<shove::metrics> metrics{};
    /// Time between two looks at the depth of consumed queues, for the metrics; 0: none.
    milliseconds depth_samples{5'000};
    /// Makes spans of what publishers and handlers do; null: contexts are passed on, and no spans made.
    std::shared_ptr<shove::tracer> tracer{};
};

namespace detail {

std::shared_ptr<broker_core> make_core(std::shared_ptr<spi::driver> driver, broker_options options);

/// The untyped broker.
class broker_handle {
public:
    explicit broker_handle(std::shared_ptr<broker_core> core) noexcept : core_(std::move(core)) {}
    const std::shared_ptr<broker_core>& core() const noexcept { return core_; }
    void declare(std::shared_ptr<const queue_topology> topology) const;
    spi::queue_depth depth(std::string_view queue) const;
    /// Of a sequenced topology: summed over its shards.
    spi::queue_depth depth(const queue_topology& topology) const;
    result<void> ping(milliseconds deadline) const;
    result<void> close(milliseconds deadline) const;
    void shutdown(milliseconds deadline) const;
    health_report health(milliseconds starving_after) const;
    const spi::capabilities& capabilities() const noexcept;
    spi::description describe() const;
    void async_declare(std::shared_ptr<const queue_topology> topology,
                       boost::asio::any_completion_handler<void(error_code)> done) const;
    void async_ping(milliseconds deadline, boost::asio::any_completion_handler<void(error_code)> done) const;
    void async_close(milliseconds deadline, boost::asio::any_completion_handler<void(error_code)> done) const;

private:
    std::shared_ptr<broker_core> core_;
};

struct declare_op {
    broker_handle handle;
    template <class Done>
    void operator()(Done done, std::shared_ptr<const queue_topology> topology) const {
        handle.async_declare(std::move(topology), std::move(done));
    }
};
struct ping_op {
    broker_handle handle;
    template <class Done>
    void operator()(Done done, milliseconds deadline) const {
        handle.async_ping(deadline, std::move(done));
    }
};
struct close_op {
    broker_handle handle;
    template <class Done>
    void operator()(Done done, milliseconds deadline) const {
        handle.async_close(deadline, std::move(done));
    }
};

/// Opens a driver or throws; makes the engine around it.
template <spi::backend B>
std::shared_ptr<broker_core> open_core(const typename B::config& config, broker_options options) {
    if (!options.clock) options.clock = make_system_clock();
    auto driver = B::open(config, spi::driver_context{options.clock});
    return make_core(std::move(driver).value(), std::move(options));
}

}  // namespace detail

/// A connection to a broker and the engine around it.
/// @tparam B  The backend's tag (`shove::sqlite`, `shove::inprocess`, …) or `any_backend`.
/// @par Thread safety  All members may be called from several threads.
/// @par Lifetime  Publishers and groups share the connection; the destructor closes it, and waits for
///   handlers that still run. Do not destroy a broker from one of its own handlers.
template <class B>
class broker {
public:
    /// Connects with a backend's configuration. Throws `exception`.
    template <class T = B>
        requires spi::backend<T>
    explicit broker(const typename T::config& config, broker_options options = {})
        : handle_(detail::open_core<T>(config, std::move(options))) {}
    explicit broker(detail::broker_handle handle) noexcept : handle_(std::move(handle)) {}
    broker(broker&&) noexcept = default;
    broker& operator=(broker&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~broker() {
        if (handle_.core()) handle_.shutdown(milliseconds(5'000));
    }

    /// Makes the queues of topics, in order; doing it again changes nothing. Throws `exception`. Blocks.
    template <topic_type... Ts>
    void declare() const {
        (detail::check_capabilities<B, Ts>(), ...);
        (handle_.declare(detail::topology_of<Ts>()), ...);
    }
    void declare(const runtime_topic& topic) const { handle_.declare(topic.topology); }
    /// As `declare`, for one topic; completes with `void(error_code)`.
    template <topic_type T, class Token>
    auto async_declare(Token&& token) const {
        detail::check_capabilities<B, T>();
        return detail::please_include_shove_async_hpp<void(error_code), Token>(detail::declare_op{handle_}, token,
                                                                               detail::topology_of<T>());
    }

    shove::publisher<B> publisher() const { return shove::publisher<B>(handle_.core()); }
    /// A new, empty group. Several may run at once; ending one never closes the broker.
    /// @param defaults  Options of its registrations where these give none of their own:
    ///                  `broker.consumer_group({.prefetch = 50, .handler_timeout = 5min})`.
    shove::consumer_group<B> consumer_group(consumer_options defaults = {}) const {
        return shove::consumer_group<B>(handle_.core(), std::move(defaults));
    }
    /// Queues and dead letters, for tools. Only where the backend can.
    shove::admin admin() const
        requires(detail::offers<B>(&spi::capabilities::admin))
    {
        return shove::admin(handle_.core());
    }

    /// Counts of a topic's main queue, or of its shards together. Throws `exception`. Blocks.
    template <topic_type T>
    spi::queue_depth depth() const {
        return handle_.depth(*detail::topology_of<T>());
    }
    spi::queue_depth depth(const runtime_topic& topic) const { return handle_.depth(*topic.topology); }
    spi::queue_depth depth(std::string_view queue) const { return handle_.depth(queue); }

    /// One bounded round trip to the broker: can this process still talk to it? No retry. Blocks at
    /// most for the deadline; after `close`: `errc::closed`.
    result<void> ping(milliseconds deadline = milliseconds(5'000)) const { return handle_.ping(deadline); }
    template <class Token>
    auto async_ping(milliseconds deadline, Token&& token) const {
        return detail::please_include_shove_async_hpp<void(error_code), Token>(detail::ping_op{handle_}, token,
                                                                               deadline);
    }
    /// What the groups look like that run now: calls that are stuck, and consumers that were given nothing for
    /// `starving_after` or longer while a message as old waits in their queue. Asks for the depth of their queues;
    /// blocks.
    health_report health(milliseconds starving_after = milliseconds(60'000)) const {
        return handle_.health(starving_after);
    }
    /// Flushes and ends the connection; idempotent. Groups that still run are drained first. Ends by the
    /// deadline whatever the broker does. Blocks.
    result<void> close(milliseconds deadline = milliseconds(5'000)) { return handle_.close(deadline); }
    template <class Token>
    auto async_close(milliseconds deadline, Token&& token) {
        return detail::please_include_shove_async_hpp<void(error_code), Token>(detail::close_op{handle_}, token,
                                                                               deadline);
    }

    const spi::capabilities& capabilities() const noexcept { return handle_.capabilities(); }
    /// What the backend tells of its broker, for people: versions, where it is. Throws `exception`. Blocks.
    spi::description describe() const { return handle_.describe(); }

private:
    detail::broker_handle handle_;
};

/// A broker whose backend is known only at run time: see `open`.
using any_broker = broker<any_backend>;

/// Opens the backend, one of those listed, that answers to the URL's scheme.
/// Error: `errc::invalid_argument` naming the scheme and those known; else what the backend reports.
template <spi::backend... Bs>
result<any_broker> open_with(std::string_view url, broker_options options = {}) {
    const auto scheme = url.substr(0, url.find(':'));
    if (!options.clock) options.clock = make_system_clock();
    std::string known;
    result<std::shared_ptr<spi::driver>> driver = error(errc::invalid_argument);
    bool found = false;
    const auto attempt = [&]<class B>(std::type_identity<B>) {
        for (std::string_view s : B::schemes) {
            known += (known.empty() ? "" : ", ") + std::string(s) + ":";
            if (found || s != scheme) continue;
            found = true;
            auto config = B::parse(url);
            if (!config) {
                driver = config.error();
            } else {
                driver = B::open(*config, spi::driver_context{options.clock});
            }
        }
    };
    (attempt(std::type_identity<Bs>{}), ...);
    if (!found) {
        return error(errc::invalid_argument,
                     "no backend for the scheme of '" + std::string(scheme) + ":'; known here: " + known);
    }
    if (!driver) return driver.error();
    return any_broker(detail::broker_handle(detail::make_core(std::move(driver).value(), std::move(options))));
}

}  // namespace shove
