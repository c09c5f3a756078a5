#pragma once

#include <shove/spi/driver.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control.hpp"
#include "handle.hpp"
#include "key_book.hpp"
#include "loop.hpp"
#include "outlet.hpp"
#include "owned.hpp"
#include "partition.hpp"
#include "receiver.hpp"

namespace shove::kafka_backend {

/// What a member reads, and where what it settles goes.
struct member_plan {
    std::string place;                                ///< For people, and for the names of where its messages wait.
    std::string group;                                ///< Its name.
    bool groupless = false;                           ///< It reads all partitions by itself; the group is a name only.
    std::vector<std::string> topics;                  ///< The main one first.
    std::shared_ptr<const std::string> dead_letters;  ///< Null: none.
    bool dead = false;                                ///< It reads dead letters.
    std::uint16_t shards = 0;                         ///< Of a sequenced topic; else 0.
    std::string keys;                                 ///< Where its poisoned keys are; empty: they are not kept.
    std::vector<std::pair<std::string, std::vector<std::int64_t>>>
        starts{};  ///< Without a group: offsets by partition.
};

/// What members of one driver share.
struct member_parts {
    std::shared_ptr<const kafka::config> settings;
    std::shared_ptr<loop> on;         ///< All of a member happens on this one.
    std::shared_ptr<control> asking;  ///< Has a thread for what blocks.
    std::shared_ptr<outlet> publishing;
    std::shared_ptr<shove::clock> time;
    /// Makes a consumer client of that group.
    std::function<result<std::shared_ptr<handle>>(const std::string& group)> make_client;
    /// Has a topic where messages wait made, like the main one, unless it is there. Answers on any thread.
    std::function<void(const std::string& topic, const std::string& like, spi::callback<void(error)>)> ensure;
    /// A topic turned out to be gone.
    std::function<void(const std::string& topic)> forget;
    /// Where a partition begins that nobody has committed an offset of: `RD_KAFKA_OFFSET_BEGINNING`, …
    std::int64_t first_offset = RD_KAFKA_OFFSET_INVALID;
    std::chrono::milliseconds commit_interval{500};
    std::size_t commit_count = 1'000;
};

/// One member of a consumer group: one client behind all subscriptions of a process to one place. It hands out what it
/// owns. A message's offset is committed only over what is settled, with a note for the next owner.
/// @par Thread safety  The loop's thread only, but for the constructor.
class member final : public std::enable_shared_from_this<member> {
public:
    member(member_parts parts, member_plan plan);
    ~member();

    /// Makes the client and joins.
    error start();
    void attach(std::shared_ptr<receiver> who);
    /// Gives up a subscription; the last one takes the member out of the group. `done` may come later.
    void detach(const std::shared_ptr<receiver>& who, spi::callback<void(error)> done);
    /// A receive waits.
    void wanted(const std::shared_ptr<receiver>& who);
    void settle(std::vector<spi::settlement> batch, spi::callback<void(std::vector<spi::failed_settlement>)> done);
    void isolate(std::uint64_t tag, spi::callback<void(error)> done);
    /// Which of these are no longer this member's.
    std::vector<std::uint64_t> lost(const std::vector<std::uint64_t>& tags) const;
    /// Leaves the group: commits, then closes. What is not settled goes to somebody else.
    /// @param until  Gives up waiting for the broker then.
    /// @param done   Called when it has left; or, where `soon`, also once the broker takes its time over that: a leave
    ///               may have to wait until other members have joined anew.
    void leave(steady_time until, bool soon, spi::callback<void(error)> done);
    /// A topic that it reads was made a moment ago.
    void look_again();

    bool leaving() const noexcept { return leaving_; }
    bool gone() const noexcept { return closed_; }
    const member_plan& plan() const noexcept { return plan_; }
    /// What it owns of a topic, for counts.
    struct share {
        std::int32_t partition = 0;
        std::int64_t next = 0;      ///< Behind the last offset that it has read.
        std::size_t unsettled = 0;  ///< Of what it has read.
        std::size_t handed = 0;     ///< Of these, in the hands of consumers.
    };
    std::vector<share> shares(const std::string& topic) const;

private:
    enum class stage { open, revoking, gone };
    struct waiter {
        std::uint64_t revision = 0;
        spi::callback<void(error)> done;
    };
    struct holding {
        explicit holding(owned_partition made) : core(std::move(made)) {}
        owned_partition core;
        owned_queue queue;
        std::shared_ptr<loop::bell> bell;
        stage now = stage::open;
        bool said_goodbye = false;  ///< Its last commit is durable.
        std::int64_t chunk = 64;
        steady_time reserved_at{};
        std::uint64_t judged_until = 0;  ///< Up to this tag the book of poisoned keys was fresh.
        bool judging = false;
        std::vector<waiter> waiters;
    };
    using holding_ptr = std::shared_ptr<holding>;

    // member.cpp
    void poll();
    void keep_polling();
    void hear(rd_kafka_event_t* event);
    void serve();
    void fill(holding& from, std::size_t want);
    void take_in(holding& into, const rd_kafka_message_t& record);
    void gather(receiver& who, std::vector<spi::delivery>& into);
    bool reads(const receiver& who, const holding& from) const;
    bool judge(holding& of, spi::delivery& item);
    void reserve(holding& what);
    void watch_due(std::optional<wall_time> next);
    receiver* owner_of(const holding& what) const;
    holding* holding_of(std::uint64_t tag) const;
    void fail_receivers(const error& why);
    error lease_lost_error() const;

    // member_rebalance.cpp
    void assigned(owned_partitions list);
    void ask_committed();
    void committed_known(const rd_kafka_event_t* event);
    void own(rd_kafka_topic_partition_list_t& list);
    holding_ptr open_holding(const rd_kafka_topic_partition_t& from, std::optional<std::int64_t> position,
                             std::optional<commit_note> note);
    void revoked(owned_partitions list);
    void proceed_revoke();
    void finish_revoke();
    void drop(holding& what, const error& why);
    bool settled_down(const holding& what) const;
    void assign_all();
    void proceed_leave();
    void close_client();
    void closed();

    // member_commit.cpp
    void commit_soon(milliseconds in);
    void commit_now();
    void start_commit();
    void commit_answered(const rd_kafka_event_t* event);
    void commit_failed();
    void settled_some();
    void when_durable(holding& what, spi::callback<void(error)> done);
    bool said_goodbye(bool revoking_only) const;

    // member_settle.cpp
    struct copying;
    void copy(std::shared_ptr<copying> batch);
    parcel poison(const std::string& key) const;
    void copies_stored(const std::shared_ptr<copying>& batch, const std::vector<spi::publish_result>& results);
    void keep(holding& of, spi::settlement what, const std::shared_ptr<copying>& batch);

    const member_parts parts_;
    const member_plan plan_;
    std::shared_ptr<handle> client_;
    owned_queue events_;   ///< Of the consumer: rebalances, errors.
    owned_queue answers_;  ///< Of commits and questions.
    std::shared_ptr<loop::bell> bell_;
    std::shared_ptr<key_book> book_;  ///< Null: keys are not kept.
    std::vector<std::shared_ptr<receiver>> receivers_;
    std::size_t turn_ = 0;
    std::map<std::pair<std::string, std::int32_t>, holding_ptr> holdings_;
    std::map<std::uint16_t, holding_ptr> slots_;
    std::uint16_t next_slot_ = 0;

    owned_partitions assigning_;  ///< An assignment that waits for what was committed.
    owned_partitions revoking_;   ///< A revocation that waits for calls to end.
    steady_time revoke_until_{};
    bool revoke_committing_ = false;

    bool committing_ = false;
    bool commit_again_ = false;
    std::uintptr_t commit_number_ = 0;
    steady_time commit_started_{};
    std::vector<std::pair<holding_ptr, owned_partition::commit>> in_commit_;
    std::optional<loop::timer> commit_timer_;
    steady_time commit_due_ = steady_time::max();
    unsigned commit_failures_ = 0;

    std::optional<loop::timer> poll_timer_;
    std::optional<loop::timer> due_timer_;
    wall_time due_at_{};

    bool leaving_ = false;
    bool closing_ = false;
    bool ever_assigned_ = false;
    steady_time join_until_{};  ///< While it leaves: so long it waits for its first assignment.
    bool closed_ = false;
    steady_time leave_until_ = steady_time::max();
    steady_time soon_ = steady_time::max();  ///< When those are told who want to know soon.
    std::vector<spi::callback<void(error)>> left_soon_;
    std::vector<spi::callback<void(error)>> left_;
    std::shared_ptr<member> self_;  ///< While it leaves.
};

}  // namespace shove::kafka_backend
