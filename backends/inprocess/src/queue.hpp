#pragma once

#include "alarm.hpp"
#include "backlog.hpp"
#include "completions.hpp"
#include "delay_heap.hpp"
#include "receiver.hpp"
#include "room.hpp"
#include "spin_mutex.hpp"
#include "store.hpp"

#include <shove/inprocess.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shove::in_memory {

/// Messages taken out of a queue by hand; they stay in flight until `finish` or `give_back`.
using held = std::vector<std::pair<place, entry>>;

/// One bounded queue. A single short section under its lock carries out each call; callbacks run
/// after it.
/// @par Thread safety  All members, from any thread.
class queue {
public:
    enum class kind : std::uint8_t {
        store,  ///< Keeps what is published to it.
        relay,  ///< Only feeds others: a broadcast.
    };

    /// `owner` is what keeps the queue alive while a timer rings.
    queue(std::string name, kind what, const inprocess::config& limits, position_source& positions, clock& time,
          std::weak_ptr<const void> owner);

    const std::string& name() const noexcept { return name_; }
    kind what() const noexcept { return kind_; }

    /// Stores in order; waits for room until the deadline.
    void store(store_batch batch, steady_time deadline, store_done done);
    void publish(spi::publish_request&& request, spi::callback<void(spi::publish_report)>&& done);

    /// Has `other` get a copy of each message published here from now on, in the same step. Doing it again changes
    /// nothing. Both stay until `stop_feeding`. `errc::closed`; `errc::invalid_topology`: another queue feeds it.
    errc feed(queue& other);
    void stop_feeding(queue& other);

    /// False: the queue is closed.
    bool attach(receiver& who);
    /// Ends a waiting receive with `errc::closed`.
    void detach(receiver& who);
    void receive(receiver& who, std::size_t max, receive_done&& done);
    /// Ends a waiting receive with `errc::cancelled`.
    void cancel(receiver& who);
    /// Carries out what concerns this queue alone, that is, all but dead letters. Gives what did not happen.
    std::vector<spi::failed_settlement> settle(receiver& who, std::vector<spi::settlement>& batch);
    /// The receiver's messages are stored elsewhere: forget them. `bytes` as of `weigh`.
    void forget(receiver& who, std::size_t messages, std::size_t bytes);
    std::size_t weigh(const message& msg) const noexcept { return room_.weigh(msg); }

    void poison(std::string_view key);
    void list_poisoned(std::vector<spi::poisoned_key>& into);
    bool unpoison(std::string_view key);

    spi::queue_depth depth();
    void browse(std::uint64_t after, std::size_t max, std::vector<spi::browsed>& into);
    held take(const std::vector<std::uint64_t>& positions);
    void finish(held messages);
    void give_back(held messages);

    /// Ends all that waits with `errc::closed`, and every later call. The messages stay counted.
    void close();

    /// A text for people.
    error explain(errc cause) const;

private:
    /// Stores what fits now. Gives why the next message is not stored.
    errc fill(store_batch& batch, completions& due);
    errc offer(store_batch& batch, completions& due);
    /// The same for what the queue feeds as well: each message is stored in all of them or in none.
    errc fill_all(store_batch& batch, completions& due);
    errc share(store_batch& batch);
    void place_copy(const spi::outgoing& what);
    /// Room came free: whoever feeds this queue may have waited for it.
    void tell_feeder();
    void look_again();
    void shut(completions& due);
    void place_next(store_batch& batch);
    steady_time after(milliseconds delay) const noexcept;
    bool may_wait(errc cause, steady_time deadline) const noexcept;
    std::vector<spi::delivery> hand_out(receiver& who, std::size_t max, std::size_t sharers);
    std::size_t idle_others(const receiver& who) const noexcept;
    /// False: it cannot be done with this delivery.
    bool carry_out(spi::settlement& what);
    void released(receiver& who, std::size_t count);
    /// Whether an exclusive receiver may take messages now: the queue is its own.
    bool may_take(receiver& who);
    /// Gives the queue to the next exclusive receiver once the one that has it is gone with all it held.
    void pass_on();
    /// Brings together what waits: batches and room, messages and receivers, moments and the alarm.
    void match(completions& due);
    void admit(completions& due);
    void serve(completions& due);
    void set_alarm();
    void ring();
    void expire(steady_time now, completions& due);

    const std::string name_;
    const kind kind_;
    clock& clock_;
    const std::weak_ptr<const void> owner_;

    spin_mutex lock_;
    room room_;
    backlog ready_;
    delay_heap delayed_;
    store_line stores_;
    std::vector<receiver*> receivers_;  // the open ones
    turns turns_;
    alarm alarm_;
    receiver* holder_ = nullptr;                              ///< The exclusive receiver that has the queue.
    std::uint64_t fence_ = 0;                                 ///< How often the queue went to an exclusive receiver.
    std::map<std::string, wall_time, std::less<>> poisoned_;  ///< Keys, and since when.
    std::size_t in_flight_ = 0;
    std::size_t idle_ = 0;  ///< Open receivers without an unsettled delivery.
    bool closed_ = false;
    // Locks are taken in the direction of feeding; each queue is fed by one at most.
    std::vector<queue*> feeds_;
    std::atomic<queue*> feeder_{nullptr};
    std::atomic<bool> feeding_{false};  ///< `feeds_` is not empty.
    std::atomic<bool> starved_{false};  ///< A batch may wait here for room in a queue that this one feeds.
};

/// The report of a publish of which the first `stored` messages are stored.
spi::publish_report report_of(const store_batch& batch, errc cause, const queue& where);

}  // namespace shove::in_memory
