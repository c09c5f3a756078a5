#pragma once

#include <shove/spi/delivery.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ack_window.hpp"
#include "assembler.hpp"
#include "intake.hpp"
#include "outlet.hpp"
#include "shard_record.hpp"

namespace shove::rabbitmq_backend {

/// The state of a shard in the hands of its owner: what is known of messages that wait, of crashes and of poisoned
/// keys.
///
/// It lives in the queue `{shard}-state`, which has one active consumer, as the shard has. A new owner reads it up to a
/// mark of its own, so that all that was confirmed to the last one is known before a message is handled; then it holds
/// the records unacknowledged, and lets each go when a newer one has taken its place or its message is settled.
/// @par Thread safety  What is public here: safe. The rest belongs to the connection's thread.
class shard_ledger final : public intake_channel, public std::enable_shared_from_this<shard_ledger> {
public:
    struct identity {
        std::string shard;
        std::string process;     ///< Of this broker: a new one each time.
        std::uint64_t most = 0;  ///< Deliveries after which a record without a message is stale.
        /// Records are written anew after so long: the server closes a channel that keeps one for longer than its
        /// `consumer_timeout`.
        std::chrono::milliseconds renewal = std::chrono::minutes(5);
        steady_time calm_at{};  ///< After a cut: by then all who felt it are back.
    };
    /// Called once, when the shard may be worked on, or with why it may not. Then once more if the ledger is lost.
    using listener = std::function<void(const error&)>;

    shard_ledger(const std::shared_ptr<intake>& on, std::shared_ptr<outlet> publishing, identity who, listener heard);
    ~shard_ledger() override;

    /// Tells a delivery what is known of it. One that the last owner had is suspect, unless that left in order.
    void annotate(spi::delivery& item);
    /// Till then the last owner may yet say that it left in order; a moment in the past: it has, or will not.
    steady_time in_doubt_until() const;
    /// Whether that is of importance for this one.
    bool in_doubt(const spi::delivery& item) const;
    /// Writes down that a message waits, with its history. `done` is called once that is confirmed.
    void write_wait(const spi::settlement& what, spi::callback<void(error)> done);
    /// Writes down that a message runs with nothing beside it.
    void write_alone(const message& msg, spi::callback<void(error)> done);
    /// What is to be published, beside the dead letter, to poison a key.
    std::vector<parcel> poison(const std::string& key);
    /// They are published: from now on the key's messages come poisoned.
    void poisoned(const std::string& key);
    /// A message is settled.
    void drop(const message& msg);
    /// Leaves. In order: no call of this owner is cut off by that. `done` is called once that is written down.
    /// @param withheld  What waited for the last owner's word.
    void leave(bool in_order, std::vector<spi::delivery> withheld, unique_function<void()> done);
    /// The shard is lost, and its owner lives: as in order, but at once.
    void abandon(std::vector<spi::delivery> withheld);

private:
    struct known_message {
        std::uint64_t tag = 0;  ///< Of the record that is held; 0: none has come yet.
        unsigned expected = 0;  ///< Records on their way to the queue and back.
        bool settled = false;   ///< Those are let go when they come.
        std::unique_ptr<spi::history> past;
        wall_time not_before{};
        bool alone = false;
        bool from_before = false;  ///< By another owner, and its message was not met yet.
        bool unwritten = false;    ///< Its crashes are in no record.
    };
    struct known_key {
        std::vector<std::uint64_t> tags;
    };

    void attach(connection& on) override;
    amqp_channel_t number() const noexcept override { return channel_; }
    void frame(connection& on, amqp_frame_t& what) override;
    void work(connection& on) override;
    steady_time due() const override { return std::min(renew_at_, mark_at_); }
    void lost(const error& why, amqp_method_number_t at) override;
    void unreachable(const error&) override {}
    std::optional<steady_time> refused(const error& why) override;
    bool leaving() const override;
    void detach(connection* on) override;

    void arrived(std::uint64_t tag, const assembler::parts& parts);
    void take(std::uint64_t tag, shard_record record, std::span<const std::byte> body);
    void take_wait(std::uint64_t tag, shard_record& record);
    void take_orderly(std::uint64_t tag, const shard_record& record, std::span<const std::byte> body);
    /// The last owner was another process, and did not leave in order. With the lock held.
    bool cut_off() const { return !last_orderly_ && last_owner_ != who_.process; }
    steady_time calm_at() const { return std::max(loaded_at_ + grace, who_.calm_at); }
    /// With what is known here only of crashes: of what was not begun yet.
    void write_orderly(std::vector<spi::delivery> withheld, unique_function<void()> done);
    void mark_read();
    /// Writes everything anew and lets the old records go.
    void renew();
    void write(const shard_record& record, spi::callback<void(error)> done);
    void begin();
    void mark_again();
    void owner_confirmed(const error& why);
    void ring();
    void let_go(std::uint64_t tag) { done_tags_.push_back(tag); }

    const std::weak_ptr<intake> intake_;
    const std::shared_ptr<outlet> publishing_;
    const identity who_;
    const std::shared_ptr<const route> to_state_;
    const std::shared_ptr<const route> to_poisoned_;

    mutable std::mutex mutex_;  ///< Guards all up to the next comment.
    listener heard_;
    std::unordered_map<std::string, known_message> messages_;  ///< By `record_id`.
    std::map<std::string, known_key> keys_;                    ///< Poisoned.
    std::vector<std::uint64_t> done_tags_;                     ///< To be acknowledged.
    std::uint64_t fence_ = 0;
    std::string last_owner_;
    bool last_orderly_ = true;  ///< Also where there was no owner yet.
    bool loaded_ = false;
    bool left_ = false;  ///< That it left in order is written, or will be.
    steady_time loaded_at_{};
    std::uint64_t met_ = 0;  ///< Deliveries since then.
    bool leaving_ = false;
    bool marking_ = false;  ///< A mark is on its way.

    // The connection's thread:
    amqp_channel_t channel_ = 0;
    ack_window window_;
    assembler parts_;
    std::uint64_t arriving_ = 0;
    steady_time renew_at_ = steady_time::max();
    steady_time mark_at_ = steady_time::max();  ///< When the mark is written again.
    std::string nonce_;                         ///< Of the mark that was written.
    std::vector<std::uint64_t> owner_tags_;     ///< Of records that say whose the shard is.
};

}  // namespace shove::rabbitmq_backend
