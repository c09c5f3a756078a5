#pragma once

#include <shove/audit.hpp>
#include <shove/detail/handler.hpp>
#include <shove/run_outcome.hpp>
#include <shove/spi/driver.hpp>
#include <shove/trace.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../decide/backoff.hpp"
#include "../decide/batcher.hpp"
#include "../decide/call_pace.hpp"
#include "../decide/lanes.hpp"
#include "../decide/settle_policy.hpp"
#include "../observe/happening.hpp"
#include "../observe/meters.hpp"
#include "adaptive_mutex.hpp"
#include "consumer_settings.hpp"
#include "solo_gate.hpp"
#include "worker_pool.hpp"

namespace shove::detail {

class broker_core;

/// What a consumer needs to know.
struct consumer_plan {
    std::shared_ptr<const queue_topology> topology;
    bool dead = false;
    consumer_settings options;
    std::shared_ptr<handler_base> handler;
    std::string name;
    std::optional<std::uint16_t> shard{};        ///< Of a sequenced topic.
    std::optional<batch_options> batch{};        ///< Handled in batches.
    std::optional<broadcast_start> broadcast{};  ///< Of a broadcast topic.
    std::optional<consumer_range> calls{};  ///< Of a sequenced topic that is scaled: calls as of so many consumers.

    /// Handler calls that one consumer makes at most at a time.
    std::size_t calls_at_once() const noexcept {
        if (!options.concurrent) return 1;
        return batch ? options.prefetch / batch->max_messages : options.prefetch;
    }
    const std::string& queue() const noexcept { return dead ? topology->dead_letter_queue : topology->reader_queue; }
    /// Where the messages lie: the queue, or the shard's.
    const std::string& place() const { return dead ? topology->dead_letter_queue : topology->place_of(shard); }
};

/// How a consumer ended.
struct consumer_end {
    bool failed = false;
    bool panicked = false;
    std::string text;
};

/// How a call ended: for all its messages, and for those of a batch that ended otherwise.
struct call_end {
    struct member {
        std::size_t index = 0;
        decide::ended how{};
    };
    decide::ended all{};
    bool called = true;            ///< The handler was.
    std::vector<member> others{};  ///< By rising index.
};

/// One running or idle handler call. Reused from message to message.
struct call {
    enum class phase : std::uint8_t {
        idle,
        running,
        cancelling,  ///< Timed out: told to stop, its answer counts for a grace.
        abandoned,   ///< Settled by the timeout; a late answer is dropped.
    };
    delivery_state state;                 ///< Of a batch: what its members have in common.
    std::vector<delivery_state> members;  ///< Of a batch; the first `size` count.
    std::size_t size = 0;
    std::vector<delivery_state*> admitted;  ///< Members that the handler is given.
    batch_result answer;
    steady_time started{};  ///< What timeouts count from: a tick of the clock early at most.
    phase now = phase::idle;
    bool solo = false;
    decide::lanes::lane* lane = nullptr;                       ///< Of a sequenced topic's message.
    std::unique_ptr<boost::asio::cancellation_signal> cancel;  // coroutines only
    std::unique_ptr<span> traced;                              ///< Where there is a tracer.
    steady_time began{};  ///< Read exactly, where anything is observed; at most the taking of a message early.
    steady_time ended{};  ///< As `began`; set before `end_call`.

    /// Calls `action` with each message that it holds.
    template <class F>
    void for_each_item(F&& action) {
        if (members.empty()) return action(state.item);
        for (std::size_t i = 0; i < size; ++i)
            action(members[i].item);
    }
    std::size_t messages() const noexcept { return members.empty() ? 1 : size; }
    /// Lets go of them.
    void clear() {
        for_each_item([](spi::delivery& item) { item = {}; });
        size = 0;
    }
};

/// The same delivery once more; its bytes are shared.
spi::delivery copy_of(const spi::delivery& item);

/// One consumer: fetches from a subscription, has the handler called, settles. The pipeline of every backend:
/// receive → checks → decode → handler → outcome → policy → settlement.
///
/// One lock guards its state, held for some dozen nanoseconds at a time and never while a driver, a handler
/// or the gate is called. `pump` is the one place that talks to the driver: whatever changed the
/// state calls it, and one thread at a time runs its loop.
class consumer final : public runnable, public gate_member, public std::enable_shared_from_this<consumer> {
public:
    /// @param changed  Called without a lock, from any thread, when the consumer has subscribed, ended or drained.
    consumer(std::shared_ptr<broker_core> core, consumer_plan plan, std::function<void()> changed);

    void start();
    /// Stops fetching, gives back what was not started, waits for the rest, closes the subscription.
    /// @param only_if_idle  Not if it holds a message. Gives whether the drain has begun by this.
    bool begin_drain(bool only_if_idle = false);
    /// Makes at most so many calls at once from now on, within its own bounds; running ones are left alone.
    void limit_calls(std::size_t most);
    /// At a drain's deadline: tells running calls to stop and adds what is left to `outcome`.
    void report_left(run_outcome& outcome);
    /// Adds calls that run on after timeout and grace.
    void report_stuck(std::vector<stuck_call>& to) const;
    /// When it was given a message last, or began.
    steady_time last_received() const;

    /// Has subscribed once, or will never.
    bool subscribed() const;
    bool never_subscribed() const;
    bool finished() const;
    consumer_end end() const;
    error first_error() const;
    void add_stats(consumer_stats& to) const;
    const consumer_plan& plan() const noexcept { return plan_; }

    void work(worker_context& context) override;
    std::size_t calls_running() override;
    void solo_granted() override;
    void solo_ended() override;

private:
    enum class phase : std::uint8_t { subscribing, running, draining, closing, finished };
    using lock_type = std::unique_lock<adaptive_mutex>;

    // consumer.cpp: life
    void subscribe();
    void subscribed_with(result<std::shared_ptr<spi::subscription>> made);
    void fail(const error& why);
    void finish(lock_type& lock);
    void close_if_drained(lock_type& lock);
    void after(milliseconds delay, void (consumer::*action)());
    void say(happening what, const std::string& text, std::initializer_list<event_field> more = {}) const;

    // consumer_pump.cpp: the driver's side
    void pump();
    bool pump_once(lock_type& lock);
    bool wants_flush() const;
    bool wants_receive() const;
    std::size_t credit() const;
    void received(result<std::vector<spi::delivery>> batch);
    void take(std::vector<spi::delivery> batch);
    void receive_failed(const error& why);
    void receive_again();
    void settled(std::vector<spi::failed_settlement> failed);
    void settle_again();
    void look_soon();
    void look_by_age();
    void renew_leases();
    void leases_lost(const std::vector<std::uint64_t>& lost);
    std::vector<std::uint64_t> held_tags() const;
    bool holds_any(const std::unordered_set<std::uint64_t>& tags) const;
    void release_unstarted();
    void release(spi::delivery item);
    void release_solo();

    // consumer_lanes.cpp: the order of a sequenced topic's keys
    bool has_ready() const noexcept {
        return lanes_ ? lanes_->startable() : batches_ ? batch_due() : !ready_.empty() && !held_up_;
    }
    std::size_t ready_count() const noexcept { return lanes_ ? lanes_->open_lanes() : batches_ ? 1 : ready_.size(); }
    bool is_suspect(const spi::delivery& item) const noexcept;
    void take_into_lanes(std::vector<spi::delivery> batch);
    call* claim_from_lanes();
    void settle_in_lane(decide::lanes::lane* of, spi::delivery item, decide::ended how, bool solo);
    void kept(std::uint64_t tag);
    void watch_lanes();
    void open_lanes(steady_time planned);
    void postpone_suspect(spi::delivery item);
    decide::lanes::lane* lane_of_suspect(std::uint64_t tag);
    std::vector<spi::delivery> empty_lanes();
    void shard_lost();
    bool shard_settled() const;
    bool lanes_want_more() const;

    // consumer_broadcast.cpp: a broadcast's deferred message
    void hold_up(spi::settlement deferred);
    void go_on();

    // consumer_batches.cpp: batches of messages
    bool batch_due() const noexcept;
    bool last_batch_left() const noexcept { return phase_ == phase::draining && batches_ && !batches_->empty(); }
    bool may_start() const noexcept { return phase_ == phase::running || last_batch_left(); }
    call* claim_batch();
    void watch_batches();
    void look_at_batches(steady_time planned);
    void add_member(call& c, spi::delivery item);
    bool admit(call& c, call_end& end) const;
    static void take_answer(call& c, const std::exception_ptr& thrown, call_end& end);
    call_end run_batch(call& c, decode_scratch& scratch) const;
    void settle_batch(call& c, call_end end);
    void spawn_batch(call& c);

    // consumer_meters.cpp: what is measured, where anything is
    bool measured() const noexcept { return meters_ != nullptr; }
    bool calls_measured() const noexcept { return meters_ && !plan_.dead; }
    void meter_received(const std::vector<spi::delivery>& batch) const;
    void meter_begun(const call& c);
    void meter_ended(const call& c, const call_end& end);
    void meter_abandoned(const call& c) const;
    void meter_outcome(const decide::ended& how) const;
    void meter_fate(const decide::verdict& verdict, const decide::ended& how);
    void meter_state() const;
    void begin_settling_discards(const std::vector<spi::settlement>& batch);
    void end_settling_discards(const std::vector<spi::failed_settlement>& failed);

    // consumer_observed.cpp: what is written down and traced, where anything is
    void observe_begin(call& c, steady_time now) const;
    steady_time observe_end(call& c, const call_end& end) const;
    void write_down(const call& c, const call_end& end) const;
    void write_down(const delivery_state& state, const call& c, const decide::ended& how) const;
    bool abandoned(const call& c) const;
    void trace_received(const std::vector<spi::delivery>& batch) const;
    std::shared_ptr<span> trace_settling(const std::vector<spi::settlement>& batch) const;

    // consumer_calls.cpp: the handler's side
    void work_in_turn(worker_context& context);
    void panic(const std::string& what);
    call* claim();
    call* begin_call(spi::delivery item, bool solo);
    void dispatch(lock_type& lock);
    bool wants_worker();
    call_end run(call& c, decode_scratch& scratch) const;
    decide::ended timed_out() const;
    void end_call(call& c, call_end end);
    void settle_as(spi::delivery item, decide::ended how, bool solo);
    void say_lost(const decide::verdict& verdict, const decide::ended& how) const;
    void count(decide::fate fate, const decide::ended& how);
    bool after_call(lock_type& lock);
    void launch_coroutines();
    void spawn(call& c);
    void coroutine_ended(call& c, call_end end);
    void watch_until(steady_time due);
    void watch_timeouts(steady_time planned);
    void time_out(call& c);
    void abandon(call& c);
    void ask_for_solo();
    void solo_isolated(const error& why);

    const std::shared_ptr<broker_core> core_;
    const consumer_plan plan_;
    const decide::failure_policy policy_;
    const decide::size_limits limits_;
    const bool coroutine_;
    const std::size_t flush_at_;
    const std::function<void()> changed_;
    const std::string place_;
    const std::shared_ptr<consumer_meters> meters_;  ///< Null: nothing is measured.
    const std::shared_ptr<audit_trail> audit_;       ///< Null: nothing is written down.
    const bool observed_;                            ///< Calls are measured, written down or traced.

    mutable adaptive_mutex mutex_;
    phase phase_ = phase::subscribing;
    std::size_t concurrency_;  ///< Calls at once.
    std::size_t max_workers_;
    std::shared_ptr<spi::subscription> subscription_;
    bool subscribed_once_ = false;
    consumer_end end_;
    error first_error_;
    consumer_stats stats_;
    std::size_t handled_now_ = 0;                              ///< Messages in calls; counted where it is measured.
    std::unordered_map<std::uint64_t, std::size_t> discards_;  ///< Reason by tag; not yet settled. Where measured.
    std::vector<std::pair<std::uint64_t, std::size_t>> settling_discards_;  ///< With the driver.
    steady_time last_received_{};

    std::deque<spi::delivery> ready_;
    bool held_up_ = false;  ///< Of a broadcast: the first one was deferred, and its time has not come.
    std::vector<std::unique_ptr<call>> calls_;
    std::vector<call*> idle_calls_;
    std::size_t running_ = 0;  ///< Calls not returned, abandoned ones included.
    std::size_t active_workers_ = 0;
    decide::call_pace pace_;
    bool waits_for_worker_ = false;  ///< Something is ready that the active workers are expected to get to soon.
    std::size_t ended_ = 0;          ///< Calls, ever.
    std::size_t ended_before_ = 0;   ///< `ended_` when the timer of `look_soon` was set.
    bool launching_ = false;
    clock::timer_id watch_timer_ = 0;  ///< Looks for calls over their time; 0: none.
    steady_time watch_due_{};
    std::optional<boost::asio::strand<boost::asio::any_io_executor>> strand_;
    decode_scratch coroutine_scratch_;  ///< Used on the strand only.

    std::vector<spi::settlement> outbox_;
    std::vector<spi::settlement> failed_outbox_;  ///< Waits for its next attempt.
    std::vector<std::uint64_t> settling_tags_;    ///< Kept only where there are leases.
    std::size_t settling_count_ = 0;
    bool settling_ = false;
    bool look_timer_ = false;
    bool flush_now_ = false;
    bool receiving_ = false;
    bool asking_ = false;  ///< `receive` has not returned yet: the driver may not know of it.
    bool receive_paused_ = false;
    std::size_t unsettled_ = 0;
    bool pumping_ = false;
    bool pump_again_ = false;
    decide::backoff receive_backoff_{milliseconds(100), milliseconds(5'000)};
    decide::backoff settle_backoff_{milliseconds(50), milliseconds(10'000)};
    decide::backoff subscribe_backoff_{milliseconds(100), milliseconds(5'000)};

    /// A message kept in its lane whose delay the driver has not noted yet.
    struct keep_note {
        decide::lanes::lane* of = nullptr;
        milliseconds delay{};
    };
    std::unique_ptr<decide::lanes> lanes_;                ///< Of a sequenced topic; instead of `ready_`.
    std::unordered_map<std::uint64_t, keep_note> keeps_;  ///< By tag.
    std::vector<std::uint64_t> settling_keeps_;           ///< Tags that the driver is noting.
    std::unordered_map<std::uint64_t, decide::lanes::lane*> suspect_lanes_;  ///< By tag.
    std::size_t poisons_unconfirmed_ = 0;
    std::size_t settling_poisons_ = 0;
    bool shard_lost_ = false;
    bool receive_cancelled_ = false;  ///< By the loss of the shard.
    clock::timer_id lane_timer_ = 0;
    steady_time lane_due_{};

    std::unique_ptr<decide::batcher> batches_;  ///< Where messages are handled in batches; instead of `ready_`.
    bool batch_aged_ = false;                   ///< The next batch is due by its age.
    clock::timer_id batch_timer_ = 0;

    std::deque<spi::delivery> suspects_;
    bool solo_requested_ = false;             ///< Asked the gate, or has its turn.
    std::optional<spi::delivery> solo_item_;  ///< Being isolated.
    bool solo_isolating_ = false;
    std::optional<spi::delivery> solo_ready_;  ///< Isolated, may be claimed.
    std::uint64_t solo_tag_ = 0;
    bool solo_settling_ = false;  ///< Its settlement is decided, not yet durable.
    bool solo_in_batch_ = false;  ///< Its settlement is with the driver.
};

}  // namespace shove::detail
