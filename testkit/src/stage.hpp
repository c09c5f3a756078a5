#pragma once

#include <shove/shove.hpp>
#include <shove/testkit/backend_factory.hpp>
#include <shove/testkit/conformance.hpp>
#include <shove/testkit/events.hpp>
#include <shove/testkit/leak_watch.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the cases are written with. Private to the suite.
namespace shove::testkit {

using namespace std::chrono_literals;

using any_group = shove::consumer_group<any_backend>;

/// A publisher that has a watch know what it is given, also where the engine refuses it, and hear its errors. (What
/// typed topics hold is known where the driver gets it.)
class any_publisher : public shove::publisher<any_backend> {
public:
    using plain = shove::publisher<any_backend>;
    any_publisher(plain to, std::shared_ptr<leak_watch> watch) : plain(std::move(to)), watch_(std::move(watch)) {}

    using plain::publish;
    using plain::publish_batch;
    using plain::try_publish;
    receipt publish(const runtime_topic& topic, std::string_view body, const publish_options& how = {}) const {
        return try_publish(topic, body, how).value();
    }
    result<receipt> try_publish(const runtime_topic& topic, std::string_view body,
                                const publish_options& how = {}) const;
    batch_report publish_batch(const runtime_topic& topic, std::span<const raw_outgoing> messages) const;

private:
    std::shared_ptr<leak_watch> watch_;
};

/// A delivery as a handler saw it, kept beyond its call.
struct seen {
    struct death_record {
        std::string reason;
        std::string original_queue;
        std::uint32_t count = 0;
        wall_time at{};
    };

    std::string id;
    std::string queue;
    std::string payload;
    std::string content_type;
    std::string type;
    std::optional<std::string> key;
    shove::headers headers;
    std::uint32_t attempt = 0;
    bool redelivered = false;
    wall_time published_at{};
    milliseconds age{};
    std::optional<wall_time> expires_at;
    std::string first_error;
    std::string last_error;
    std::uint32_t retries = 0;
    std::uint32_t crashes = 0;
    wall_time first_failed_at{};
    wall_time last_failed_at{};
    std::optional<death_record> death;
    steady_time called_at{};
};

seen copy_of(const delivery& from);

/// A handler that notes every call, then answers as told. Copies share what they noted.
class probe {
public:
    using answer = std::function<outcome(const seen&, const delivery&)>;

    /// Answers `ack`.
    probe() : probe(ack) {}
    explicit probe(outcome always) : probe(answer([always](const seen&, const delivery&) { return always; })) {}
    explicit probe(answer by) : answer_(std::move(by)) {}

    outcome operator()(std::span<const std::byte>, const delivery& info) const;
    std::size_t size() const { return calls_.size(); }
    std::vector<seen> all() const { return calls_.all(); }
    std::vector<seen> wait(std::size_t n, std::string_view what = "handler calls",
                           milliseconds limit = patience()) const {
        return calls_.wait(n, what, limit);
    }

private:
    answer answer_;
    recorder<seen> calls_;
};

/// A group between its start and its drain; drained at the end of its scope, too.
class running {
public:
    explicit running(any_group group) : group_(std::move(group)) { group_.start(); }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    ~running();
    run_outcome stop(milliseconds drain = patience());
    consumer_stats stats(std::string_view queue) const { return group_.stats(queue); }

private:
    any_group group_;
    bool stopped_ = false;
};

/// One case's store, its broker and its queues. All its brokers are watched: see `leaks`.
class stage {
public:
    explicit stage(const backend_factory& factory);

    /// The backend's, with watched stores.
    const backend_factory& factory() const noexcept { return factory_; }
    /// How the broker will be opened; before the first use of it.
    broker_options& options() noexcept { return options_; }
    /// Makes the store one of bounded queues; before the first use of the broker.
    void bound(std::size_t capacity) { store_ = factory_.make_bounded_store(capacity); }
    backend_store& store();
    any_broker& broker();
    /// Closes the broker; the next use opens another on the same store.
    void reopen() { broker_.reset(); }
    any_publisher publisher() { return {broker().publisher(), watch_}; }
    any_group group() { return broker().consumer_group(); }

    /// A name that no other case, process or run has used.
    std::string fresh_name(std::string_view stem = "queue");
    /// A topic of a fresh name, declared: `topic([](auto t) { return t.hold(5ms).dlq(); })`.
    template <class Shape>
    runtime_topic topic(Shape shape) {
        auto made = undeclared(std::move(shape));
        broker().declare(made);
        return made;
    }
    runtime_topic topic() {
        return topic([](const shove::topology& t) { return t; });
    }
    template <class Shape>
    runtime_topic undeclared(Shape shape) {
        const auto name = fresh_name();
        return runtime_topic::make(shape(shove::topology(name))).value();
    }

    /// Starts a group of one registration.
    running consume(const runtime_topic& topic, probe handler, consumer_options how = {});
    running consume_dead(const runtime_topic& topic, probe handler, consumer_options how = {});
    /// Takes and acknowledges messages until there were `n`; gives them.
    std::vector<seen> take(const runtime_topic& topic, std::size_t n);
    std::vector<seen> take_dead(const runtime_topic& topic, std::size_t n);
    /// Waits until nothing is ready, in flight or delayed in a queue.
    void wait_empty(std::string_view queue);
    void wait_empty(const runtime_topic& topic);
    /// Expects it to hold now; where the broker counts late (`backend_factory::unseen`), in time.
    void expect_counted(std::string_view what, const std::function<bool()>& holds);
    void wait_ready(std::string_view queue, std::uint64_t n);

    /// Closes the broker. Where a body, a header's value or a secret of the factory was told to people or programs so
    /// far: in log lines, events, spans, labels of metrics, errors, descriptions.
    std::vector<std::string> leaks();

private:
    std::shared_ptr<leak_watch> watch_ = std::make_shared<leak_watch>();
    backend_factory factory_;
    broker_options options_;
    std::unique_ptr<backend_store> store_;
    std::optional<any_broker> broker_;
};

/// Runs a case; then nothing that it published may have been told.
void run_case(const backend_factory& factory, const conformance_case& which);

std::string text_of(std::span<const std::byte> bytes);
/// `size` bytes that hold every byte value.
std::string every_byte(std::size_t size);
/// A body that no text has by chance, so that the stage sees where it is told.
inline constexpr const char* a_body = "SECRET-body";
/// `SECRET-m0`, `SECRET-m1`, …
std::string numbered_body(std::size_t number);
/// Of a numbered body.
std::size_t number_in(std::string_view body);
/// Numbered bodies for a batch; the views into `kept` live as long as it.
std::vector<any_publisher::raw_outgoing> numbered(std::vector<std::string>& kept, std::size_t n);
std::vector<std::string> numbered_bodies(std::size_t n);
/// Publishes them in one batch.
void publish_numbered(stage& on, const runtime_topic& topic, std::size_t n);
std::vector<std::string> payloads(const std::vector<seen>& from);
/// Options with one thing set.
publish_options delayed(milliseconds delay);
publish_options expiring(milliseconds expires_in, milliseconds delay = milliseconds(0));
/// Whether nothing is there, in hands or on its way.
bool is_empty(const spi::queue_depth& depth) noexcept;

/// How long a process of its own, which cannot ask `backend_factory::unseen`, looks before it believes a queue empty.
inline constexpr std::chrono::milliseconds child_unseen{200};

/// The main queue's name.
inline const std::string& queue_of(const runtime_topic& topic) {
    return topic.topology->queue;
}
inline const std::string& dead_queue_of(const runtime_topic& topic) {
    return topic.topology->dead_letter_queue;
}

// The themes; `conformance_cases` joins them.
void add_topology_cases(std::vector<conformance_case>& to);
void add_publish_cases(std::vector<conformance_case>& to);
void add_publish_refusal_cases(std::vector<conformance_case>& to);
void add_publish_async_cases(std::vector<conformance_case>& to);
void add_header_cases(std::vector<conformance_case>& to);
void add_identity_cases(std::vector<conformance_case>& to);
void add_time_cases(std::vector<conformance_case>& to);
void add_consume_cases(std::vector<conformance_case>& to);
void add_retry_cases(std::vector<conformance_case>& to);
void add_exception_cases(std::vector<conformance_case>& to);
void add_dead_letter_cases(std::vector<conformance_case>& to);
void add_poison_cases(std::vector<conformance_case>& to);
void add_timeout_cases(std::vector<conformance_case>& to);
void add_coroutine_cases(std::vector<conformance_case>& to);
void add_concurrency_cases(std::vector<conformance_case>& to);
void add_drain_cases(std::vector<conformance_case>& to);
void add_run_cases(std::vector<conformance_case>& to);
void add_lifetime_cases(std::vector<conformance_case>& to);
void add_clock_cases(std::vector<conformance_case>& to);
void add_admin_cases(std::vector<conformance_case>& to);
void add_crash_cases(std::vector<conformance_case>& to);
void add_durability_cases(std::vector<conformance_case>& to);
void add_sequenced_cases(std::vector<conformance_case>& to);
void add_reader_cases(std::vector<conformance_case>& to);
void add_broadcast_cases(std::vector<conformance_case>& to);
void add_batch_cases(std::vector<conformance_case>& to);
void add_describe_cases(std::vector<conformance_case>& to);
void add_observe_cases(std::vector<conformance_case>& to);

/// A requirement of a flag of `spi::capabilities`.
template <bool spi::capabilities::*Flag>
bool has(const backend_factory& factory) {
    return factory.capabilities.*Flag;
}
inline const requirement needs_delayed_publish{"delayed_publish", &has<&spi::capabilities::delayed_publish>};
inline const requirement needs_admin{"admin", &has<&spi::capabilities::admin>};
inline const requirement needs_durable{"durable", &has<&spi::capabilities::durable>};
inline const requirement needs_any_delay{"any_delay", &has<&spi::capabilities::any_delay>};
inline const requirement needs_crash_budget{"crash_budget", &has<&spi::capabilities::crash_budget>};
inline const requirement needs_processes{"several_processes", [](const backend_factory& f) {
                                             return f.capabilities.several_processes && static_cast<bool>(f.attach);
                                         }};
inline const requirement needs_bounded{
    "bounded queues", [](const backend_factory& f) { return static_cast<bool>(f.make_bounded_store); }};

}  // namespace shove::testkit
