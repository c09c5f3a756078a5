#pragma once

#include <shove/spi/driver.hpp>
#include <shove/testkit/events.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shove::testkit {

/// A settlement as the engine asked for it.
struct settled_item {
    std::uint64_t tag = 0;
    spi::settlement_kind kind = spi::settlement_kind::complete;
    milliseconds delay{0};
    std::optional<std::size_t> tier;
    std::string body;
    std::string queue;
    spi::history past;  ///< Empty where the delivery had none.
};

/// A driver without a broker: a test hands deliveries to the engine, answers what the engine asks, and sees
/// every operation in order. It answers at once and with success unless told otherwise.
///
/// It also watches the port's rules: one `receive` and one `settle` at a time for each subscription, never
/// more deliveries unsettled than `prefetch`, each delivery settled once, nothing after `close`.
/// `breaches` lists what the engine did wrong.
/// @par Thread safety  All members may be called from several threads. Answers run without a lock.
class scripted_driver final : public spi::driver, public std::enable_shared_from_this<scripted_driver> {
public:
    /// Nothing but a name: like a broker that can do the least.
    static spi::capabilities least();
    explicit scripted_driver(const spi::capabilities& can = least()) : capabilities_(can) {}

    /// Hands out a message; gives its tag.
    std::uint64_t deliver(std::string_view body, std::optional<spi::history> past = {});
    /// Hands out a message to a consumer of that queue.
    std::uint64_t deliver_to(std::string_view queue, std::string_view body, std::optional<spi::history> past = {});
    /// Hands out messages in one batch; gives the first one's tag, the others follow.
    std::uint64_t deliver(const std::vector<std::string>& bodies);
    /// Hands out a delivery of the test's own making; its tag is set. Gives the tag.
    std::uint64_t deliver(spi::delivery item);

    // What is answered. Each is called without a lock, and may be set while things run.
    /// The next so many calls of `receive` fail.
    void fail_receives(error why, std::size_t times);
    /// Ends the waiting `receive` of that many consumers with an error, the longest subscribed first; gives of how
    /// many.
    std::size_t break_receives(const error& why, std::size_t consumers);
    /// Runs at the start of every `receive`, before the driver knows of it.
    void on_receive(std::function<void()> action);
    /// For each settlement: no error, or why it did not happen.
    void on_settle(std::function<error(const settled_item&)> answer);
    /// Holds answers to `settle` until `release_settles`.
    void hold_settles();
    void release_settles();
    /// Tags that are lost when leases are renewed.
    void on_extend(std::function<std::vector<std::uint64_t>(const std::vector<std::uint64_t>&)> answer);
    void on_isolate(std::function<error(std::uint64_t)> answer);
    void on_declare(std::function<error(const queue_topology&)> answer);
    void on_subscribe(std::function<error(const spi::source&)> answer);
    /// Nothing: no answer, until `answer_the_rest`.
    void on_publish(std::function<std::optional<spi::publish_report>(const spi::publish_request&)> answer);
    /// Nothing: no answer, until `answer_the_rest`. Without a script: what waits and what is out, of all queues.
    void on_depth(std::function<std::optional<result<spi::queue_depth>>(const std::string&)> answer);
    void on_ping(std::function<std::optional<error>()> answer);
    void on_describe(std::function<result<spi::description>()> answer);
    void on_close(std::function<std::optional<error>()> answer);
    /// Answers whatever was left without an answer: `errc::closed`.
    void answer_the_rest();
    /// Operations that wait for it.
    std::size_t unanswered() const;

    /// Every operation in order: `declare q`, `subscribe q`, `receive 10`, `cancel_receive`, `settle 3`,
    /// `extend 2`, `isolate 7`, `close_subscription`, `publish 1`, `depth q`, `ping`, `describe`,
    /// `close`.
    const recorder<std::string>& log() const noexcept { return log_; }
    /// How often an operation (the first word of its line) stands in the log.
    std::size_t count(std::string_view operation) const;
    /// Settlements that happened, and those that were answered by an error.
    const recorder<settled_item>& settled() const noexcept { return settled_; }
    const recorder<settled_item>& refused() const noexcept { return refused_; }
    /// Sizes of the batches of `settle`.
    const recorder<std::size_t>& batches() const noexcept { return batches_; }
    std::vector<std::string> breaches() const { return breaches_.all(); }
    /// The bodies of everything handed out.
    const recorder<std::string>& bodies() const noexcept { return bodies_; }
    /// Deliveries handed out and not settled.
    std::size_t unsettled() const;
    /// Whether a `receive` waits now.
    bool receiving() const;
    /// How many wait in `receive`.
    std::size_t receivers() const;

    const spi::capabilities& capabilities() const noexcept override { return capabilities_; }
    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) override;
    void publish(const queue_topology& topology, spi::publish_request request,
                 spi::callback<void(spi::publish_report)> done) override;
    void subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) override;
    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) override;
    void ping(steady_time deadline, spi::callback<void(error)> done) override;
    void describe(spi::callback<void(result<spi::description>)> done) override;
    void close(steady_time deadline, spi::callback<void(error)> done) override;

private:
    class scripted_subscription;
    using receive_done = spi::callback<void(result<std::vector<spi::delivery>>)>;
    using settle_done = spi::callback<void(std::vector<spi::failed_settlement>)>;

    /// Answers of the test, replaced as a whole.
    struct answers {
        std::function<void()> receive;
        std::function<error(const settled_item&)> settle;
        std::function<std::vector<std::uint64_t>(const std::vector<std::uint64_t>&)> extend;
        std::function<error(std::uint64_t)> isolate;
        std::function<error(const queue_topology&)> declare;
        std::function<error(const spi::source&)> subscribe;
        std::function<std::optional<spi::publish_report>(const spi::publish_request&)> publish;
        std::function<std::optional<result<spi::queue_depth>>(const std::string&)> depth;
        std::function<std::optional<error>()> ping;
        std::function<result<spi::description>()> describe;
        std::function<std::optional<error>()> close;
    };

    answers current() const;
    void breach(std::string what) { breaches_.add(std::move(what)); }
    std::uint64_t queue_up(std::vector<spi::delivery> items, std::string_view queue = {});
    void serve();
    std::vector<spi::delivery> matching(const scripted_subscription& who);
    void leave_unanswered(unique_function<void()> answer);
    void settle_batch(const std::string& queue, std::vector<spi::settlement> batch, settle_done done);
    bool carry_out(const answers& script, const std::string& queue, const spi::settlement& what, error& why);

    const spi::capabilities capabilities_;
    mutable std::mutex mutex_;
    answers answers_;
    std::uint64_t next_tag_ = 1;
    /// A delivery that waits for a `receive`: of that queue's consumers, or of any.
    struct waiting_item {
        spi::delivery item;
        std::string queue;
    };
    std::deque<waiting_item> waiting_;
    std::vector<std::weak_ptr<scripted_subscription>> subscriptions_;
    std::map<std::uint64_t, const scripted_subscription*> out_;  ///< Handed out and not settled: to whom.
    std::set<std::uint64_t> lost_;
    error receive_error_;
    std::size_t receive_failures_ = 0;
    bool holding_settles_ = false;
    std::vector<std::function<void()>> held_settles_;
    std::vector<unique_function<void()>> unanswered_;
    recorder<std::string> log_;
    recorder<settled_item> settled_;
    recorder<settled_item> refused_;
    recorder<std::size_t> batches_;
    recorder<std::string> breaches_;
    recorder<std::string> bodies_;
};

/// A delivery of a body, for `scripted_driver::deliver`.
spi::delivery make_delivery(std::string_view body, std::optional<spi::history> past = {});

}  // namespace shove::testkit
