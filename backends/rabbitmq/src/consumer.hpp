#pragma once

#include <shove/spi/driver.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ack_window.hpp"
#include "arrival_times.hpp"
#include "assembler.hpp"
#include "crash_notes.hpp"
#include "doubts.hpp"
#include "handled_before.hpp"
#include "intake.hpp"
#include "lost_and_found.hpp"
#include "shard_ledger.hpp"
#include "transaction.hpp"

namespace shove::rabbitmq_backend {

/// What a consumer reads, and how.
struct consumer_plan {
    std::string queue;
    std::string fanout;  ///< Of a broadcast, in place of the queue: its exchange.
    /// Whose routing keys are the messages' keys: of a sequenced topology the hash exchange. Else empty.
    std::string key_exchange;
    std::string name;  ///< For people: shown by the server as the consumer's tag.
    std::uint16_t prefetch = 1;
    /// The server closes a channel that keeps a delivery for longer; 0: never.
    std::chrono::milliseconds consumer_timeout{0};
    bool dead = false;    ///< It is a dead-letter queue.
    bool shard = false;   ///< It is a shard of a sequenced topology: read by one consumer at a time, with a ledger.
    std::string process;  ///< Of this broker: a new name each time.
    std::shared_ptr<outlet> publishing;  ///< Of a shard: for its ledger.
    std::shared_ptr<lost_and_found> lost;
    std::shared_ptr<crash_notes> notes;  ///< Null: deaths are not counted.
    bool transactional = false;          ///< Deliveries are let go in transactions. There is a `lost` then.
    std::string user;                    ///< Of the connection.
    /// The queue is not there. Has it made again, if it was made here; may do that later.
    std::function<void()> repair;
};

/// A consumer on a channel of its own: takes what the server pushes, and lets it go as is decided.
/// @par Thread safety  What is public here: safe. The rest belongs to the connection's thread.
class consumer final : public intake_channel, public std::enable_shared_from_this<consumer> {
public:
    using started = spi::callback<void(error)>;

    consumer(const std::shared_ptr<intake>& on, consumer_plan plan, started done);
    ~consumer() override;

    void receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done);
    void cancel_receive();
    /// Gives deliveries back that nobody has begun, and says so first. `done` is called once they are on their way.
    void give_back(std::vector<spi::delivery> items, unique_function<void()> done);
    /// Writes down that nobody has begun these. `done` is called in any case; they are let go in it.
    void say_unbegun(const std::vector<const spi::delivery*>& items, unique_function<void()> done);
    /// Lets a delivery go. False: its channel is gone, and it with it.
    /// @param of  With transactions: who is told, with the index, what became of it.
    bool let_go(std::uint64_t tag, release_kind how, std::shared_ptr<transaction_user> of = nullptr,
                std::size_t index = 0);
    /// Whether a delivery is in this process's hands, by this channel.
    bool holds(std::uint64_t tag) const;
    /// A call has ended, and `let_go` was too late. True: its message is settled all the same; it had come back.
    bool answer_later(spi::settlement& how);
    /// A call has ended, and its message may come back: it is only acknowledged then.
    void remember(spi::settlement done);
    /// Sends what `let_go` has noted.
    void flush() {
        if (const auto on = intake_.lock()) on->wake();
    }
    /// As `flush`; but where only acknowledgements are to be sent, a few of them may wait for more.
    void flush_soon();
    void leave(spi::callback<void(error)> done);
    // Of a shard:
    /// A message that nobody has begun is this consumer's to hand out again.
    void put_back(spi::delivery item);
    /// Writes down that it waits. `errc::lease_lost`: the shard is another's.
    void keep(const spi::settlement& what, spi::callback<void(error)> done);
    void isolate(std::uint64_t tag, spi::callback<void(error)> done);
    std::vector<parcel> poison(const std::string& key);
    void poisoned(const std::string& key);

    /// Deliveries that are in this process and not settled.
    std::size_t unsettled() const;
    const consumer_plan& plan() const noexcept { return plan_; }

private:
    using receive_done = spi::callback<void(result<std::vector<spi::delivery>>)>;
    void attach(connection& on) override;
    amqp_channel_t number() const noexcept override { return channel_; }
    void frame(connection& on, amqp_frame_t& what) override;
    void work(connection& on) override;
    steady_time due() const override;
    std::size_t prefetch() const noexcept override { return plan_.prefetch; }
    void lost(const error& why, amqp_method_number_t at) override;
    void unreachable(const error& why) override;
    std::optional<steady_time> refused(const error& why) override;
    bool leaving() const override;
    void detach(connection* on) override;

    void consume(connection& on);
    /// Has the server push, or not, as the engine wants: what is given back during a drain would come again at once.
    void follow_demand(connection& on);
    void take_all(std::deque<spi::delivery>& into);
    void pause(connection& on);
    void resume(connection& on);
    void declare_own_queue(connection& on);
    void delivered();
    /// Whether the message's call goes on, or has ended meanwhile: then it is settled by that.
    bool is_known(const spi::delivery& item, std::int64_t mark);
    bool apply(std::uint64_t tag, spi::settlement& how);
    void return_known(std::uint64_t tag);
    void hand_over();
    /// What was delivered before, and is not known here, waits for the notes.
    void clear_doubts();
    void notes_read(std::uint64_t epoch, const std::optional<findings>& found);
    void taken(std::uint64_t epoch);
    /// A message came back while its call ran, or thereafter.
    void known_again(std::uint64_t tag, const message& msg);
    /// Puts a message to what is said of those that go back. With the lock held.
    void add_to(farewell& what, std::uint64_t tag, const message& msg) const;
    /// Of all that went with the channel. With the lock held.
    farewell lost_ones(const std::vector<departure>& unsent) const;
    void say_lost(const farewell& what);
    /// Calls `done` when that is written down, or cannot be. This consumer lives until then.
    void note_first(const farewell& what, unique_function<void()> done);
    void requeue(const std::vector<spi::delivery>& items);
    /// Of a shard: what came before its state is known waits; what comes then is told of it.
    void admit();
    std::vector<spi::delivery> admitted(const shard_ledger& book);
    void open_ledger();
    void ledger_heard(std::uint64_t which, const error& why);
    std::shared_ptr<shard_ledger> ledger() const;
    void depart();
    /// Leaves as soon as all that nobody has begun is given back.
    void depart_when_done(const connection& on);
    void send_ops(connection& on);
    /// Whether there is little to send, and nothing that is urgent. With the lock held.
    bool may_gather() const;
    void send_releases(connection& on, const std::vector<departure>& which);
    // With transactions:
    void select_transactions(connection& on);
    /// Begins the next transaction, unless one is under way or there is nothing to settle.
    void commit(connection& on);
    /// Those that can go into a transaction; tells the others.
    std::vector<departure> suited(const connection& on, std::vector<departure> some);
    bool fits(const connection& on, const departure& one);
    void commit_frames(connection& on);
    void committed();
    /// There will be no answer for these. Without the lock.
    void give_up(std::vector<departure> some);
    /// A copy was refused, or its queue was missing.
    void keep_copies_apart();
    std::int64_t take_mark(std::uint64_t tag);
    // consumer_timeout.cpp:
    /// Gives back what the server would soon close the channel for.
    void heed_timeout(connection& on);
    error timeout_near() const;
    void give_way(connection& on);
    void change_channel(connection& on);
    /// It is one of those that were given back so.
    void returned(const spi::delivery& item);
    void tell(const error& why);
    /// What can be sent now of what was decided: the rest is on its way back. With the lock held.
    std::vector<departure> take_ops();
    /// The server's number of a delivery now; 0: it is on its way back.
    std::uint64_t number_now(std::uint64_t tag) const;
    std::vector<spi::delivery> take(std::size_t max);
    std::uint64_t tag_of(std::uint64_t number) const noexcept { return epoch_ << 40U | number; }
    static std::uint64_t number_of(std::uint64_t tag) noexcept { return tag & ((std::uint64_t{1} << 40U) - 1); }

    const std::weak_ptr<intake> intake_;
    const consumer_plan plan_;

    mutable std::mutex mutex_;  ///< Guards all up to the next comment.
    started started_;           ///< Until it was called.
    std::uint64_t epoch_ = 0;   ///< Of the channel; rises with each.
    std::deque<spi::delivery> ready_;
    std::unordered_map<std::uint64_t, message> handed_;  ///< By tag: given to the engine, not settled.
    std::vector<departure> ops_;
    steady_time ops_due_ = steady_time::max();               ///< When they are sent, though they are few.
    bool alarm_set_ = false;                                 ///< The connection's thread knows of that.
    std::size_t committing_ = 0;                             ///< In the transaction that is under way.
    std::unordered_map<std::uint64_t, std::int64_t> marks_;  ///< By tag: of copies, until they are settled.
    receive_done receiving_;
    std::size_t receive_max_ = 0;
    std::optional<error> failure_;  ///< For the next receive.
    bool wanted_ = true;      ///< Deliveries are; false between the end of a receive and the next one, in a drain.
    bool attached_ = false;   ///< There is a channel.
    bool departing_ = false;  ///< `leave` was called.
    bool leaving_ = false;
    spi::callback<void(error)> left_;
    std::size_t giving_back_ = 0;                                ///< Notes of it under way.
    std::size_t telling_ = 0;                                    ///< Notes of what was lost, under way.
    doubts doubts_;                                              ///< Delivered before, by whom is not known.
    std::vector<spi::delivery> taking_;                          ///< Cleared, once that is taken away from the notes.
    std::vector<spi::delivery> judged_;                          ///< To be handed out.
    std::unordered_map<std::uint64_t, std::uint32_t> suspects_;  ///< Crashes by tag.
    std::unordered_map<std::string, std::uint32_t> counted_;     ///< Suspects that were lost, by `record_id`.
    std::vector<std::string> known_again_;                       ///< To be taken away from the notes.
    /// Of a shard: perhaps a process died over them, and what is behind them in their keys.
    std::vector<spi::delivery> withheld_;
    std::unordered_set<std::string> withheld_keys_;
    steady_time withheld_until_ = steady_time::max();
    std::shared_ptr<shard_ledger> ledger_;
    std::uint64_t ledgers_ = 0;  ///< Rises with each.
    bool open_ = false;          ///< The ledger is read.
    bool broken_ = false;        ///< It is lost: the shard is given up.

    // The connection's thread:
    amqp_channel_t channel_ = 0;
    std::string tag_;         ///< The consumer's, as the server knows it.
    bool consuming_ = false;  ///< The server pushes.
    ack_window window_;
    assembler parts_;
    std::uint64_t number_ = 0;  ///< Of the delivery that is arriving.
    bool redelivered_ = false;
    bool returning_ = false;     ///< What arrives is a copy of ours.
    bool doubtful_row_ = false;  ///< The last delivery went to `doubts_`.
    transaction transaction_;
    steady_time copies_apart_until_{};  ///< Copies go another way till then.
    properties_writer writer_;
    std::vector<header> notes_;
    std::string exchange_;
    std::string routing_key_;
    std::vector<spi::delivery> arrived_;
    bool admits_ = false;     ///< What has arrived of a shard is told of its state.
    bool cancelled_ = false;  ///< By the server.
    steady_time calm_at_{};   ///< After a cut: by then all who felt it are back.
    arrival_times times_;
    steady_time due_ = steady_time::max();      ///< When `heed_timeout` has something to do.
    steady_time send_at_ = steady_time::max();  ///< When acknowledgements that wait for more are sent.
    bool giving_way_ = false;                   ///< What is in hand goes back; then comes a new channel.
    /// Of a shard, after a change of channels: what is in hand and was not given again yet, by tag, with its
    /// `record_id`.
    std::map<std::uint64_t, std::string> awaited_;
    std::unordered_map<std::uint64_t, std::uint64_t> moved_;  ///< Numbers of what was given again, by tag.
    unsigned refusals_ = 0;
};

}  // namespace shove::rabbitmq_backend
