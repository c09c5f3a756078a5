#include <algorithm>
#include <array>
#include <span>

#include "member.hpp"
#include "refusal.hpp"

// What a member owns comes and goes: taking partitions over, giving them up, leaving.

namespace shove::kafka_backend {

namespace {

/// A call that runs for longer when its partition is given up is made again by the next owner.
constexpr std::chrono::seconds revoke_patience{30};
constexpr milliseconds ask_again{200};

std::string_view metadata_of(const rd_kafka_topic_partition_t& one) {
    return one.metadata == nullptr ? std::string_view()
                                   : std::string_view(static_cast<const char*>(one.metadata), one.metadata_size);
}

std::span<rd_kafka_topic_partition_t> rows(rd_kafka_topic_partition_list_t& list) {
    return {list.elems, static_cast<std::size_t>(list.cnt)};
}

std::span<const rd_kafka_topic_partition_t> rows(const rd_kafka_topic_partition_list_t& list) {
    return {list.elems, static_cast<std::size_t>(list.cnt)};
}

}  // namespace

void member::assigned(owned_partitions list) {
    ever_assigned_ = true;
    if (leaving_ ||
        list->cnt == 0) {  // the client wants an answer; what it gets is taken from it at once, or is nothing
        const owned_error ignored(rd_kafka_incremental_assign(client_->get(), list.get()));
        return;
    }
    assigning_ = std::move(list);
    ask_committed();
}

/// The last owner's notes come with the offsets. The library's own question blocks; this one does not.
void member::ask_committed() {
    auto* asked = rd_kafka_ListConsumerGroupOffsets_new(plan_.group.c_str(), assigning_.get());
    auto* how = rd_kafka_AdminOptions_new(client_->get(), RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
    std::array<char, 512> why{};
    rd_kafka_AdminOptions_set_request_timeout(how, 5'000, why.data(), why.size());
    const owned_error unstable(rd_kafka_AdminOptions_set_require_stable_offsets(how, 1));
    rd_kafka_ListConsumerGroupOffsets(client_->get(), &asked, 1, how, answers_.get());
    rd_kafka_AdminOptions_destroy(how);
    rd_kafka_ListConsumerGroupOffsets_destroy(asked);
}

void member::committed_known(const rd_kafka_event_t* event) {
    if (!assigning_) return;
    const auto* answer = rd_kafka_event_ListConsumerGroupOffsets_result(const_cast<rd_kafka_event_t*>(event));
    std::size_t count = 0;
    const auto* const* groups =
        answer == nullptr ? nullptr : rd_kafka_ListConsumerGroupOffsets_result_groups(answer, &count);
    bool failed = rd_kafka_event_error(const_cast<rd_kafka_event_t*>(event)) != RD_KAFKA_RESP_ERR_NO_ERROR ||
                  count != 1 || rd_kafka_group_result_error(groups[0]) != nullptr;
    const auto* known = failed ? nullptr : rd_kafka_group_result_partitions(groups[0]);
    if (known != nullptr) {
        failed =
            std::ranges::any_of(rows(*known), [](const auto& one) { return one.err != RD_KAFKA_RESP_ERR_NO_ERROR; });
    }
    if (failed && !leaving_) {
        parts_.on->after(ask_again, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && self->assigning_ && self->client_) self->ask_committed();
        });
        return;
    }
    const auto list = std::exchange(assigning_, nullptr);
    if (known != nullptr && !leaving_) {
        for (const auto& one : rows(*known)) {
            if (auto* row = rd_kafka_topic_partition_list_find(list.get(), one.topic, one.partition)) {
                // Said here, the library need not ask once more.
                row->offset = one.offset >= 0 ? one.offset : parts_.first_offset;
                std::optional<std::int64_t> position;
                std::optional<commit_note> note;
                if (one.offset >= 0) {
                    position = one.offset;
                    note = commit_note::read(metadata_of(one), one.offset);
                }
                // Where a group begins at the beginning, that is said at once: then the first message need not wait.
                if (!position && parts_.first_offset == RD_KAFKA_OFFSET_BEGINNING) position = 0;
                const auto made = open_holding(one, position, std::move(note));
                made->core.reserve(made->chunk);
                holdings_[{one.topic, one.partition}] = made;
            }
        }
    }
    const owned_error refused(rd_kafka_incremental_assign(client_->get(), list.get()));
    if (refused) {  // lost again meanwhile
        for (const auto& one : rows(*list)) {
            const auto found = holdings_.find({one.topic, one.partition});
            if (found == holdings_.end()) continue;
            drop(*found->second, lease_lost_error());
            holdings_.erase(found);
        }
    }
    commit_now();
    serve();
}

member::holding_ptr member::open_holding(const rd_kafka_topic_partition_t& from, std::optional<std::int64_t> position,
                                         std::optional<commit_note> note) {
    partition_place where;
    where.topic = from.topic;
    where.number = from.partition;
    where.waits = from.topic != plan_.topics.front();
    where.handled = where.waits && where.topic.starts_with(plan_.place + "-retry-");
    where.sequenced = plan_.shards > 0;
    where.groupless = plan_.groupless;
    while (slots_.contains(++next_slot_)) {
    }
    auto made = std::make_shared<holding>(owned_partition(std::move(where), next_slot_, position, std::move(note)));
    slots_[next_slot_] = made;
    // Its own queue: the library stops fetching for what is not taken out, without a pause that drops all.
    made->queue.reset(rd_kafka_queue_get_partition(client_->get(), from.topic, from.partition));
    rd_kafka_queue_forward(made->queue.get(), nullptr);
    made->bell = std::make_shared<loop::bell>(parts_.on, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->serve();
    });
    rd_kafka_queue_cb_event_enable(
        made->queue.get(),
        [](rd_kafka_t*, void* to) { loop::bell::ring(*static_cast<std::shared_ptr<loop::bell>*>(to)); }, &made->bell);
    return made;
}

void member::drop(holding& what, const error& why) {
    what.now = stage::gone;
    if (what.queue) rd_kafka_queue_cb_event_enable(what.queue.get(), nullptr, nullptr);
    what.queue.reset();
    what.bell->silence();
    slots_.erase(what.core.slot());
    for (auto& each : std::exchange(what.waiters, {}))
        each.done(why);
}

void member::revoked(owned_partitions list) {
    const bool lost = rd_kafka_assignment_lost(client_->get()) != 0;
    for (const auto& one : rows(*list)) {
        const auto found = holdings_.find({one.topic, one.partition});
        if (found == holdings_.end()) continue;
        auto& what = *found->second;
        what.now = stage::revoking;
        if (!plan_.shards) continue;
        if (auto* who = owner_of(what); who != nullptr && !closing_) {
            who->told_lost = true;
            if (who->waiting) {
                who->answer(lease_lost_error());
            } else {
                who->failure = lease_lost_error();
            }
        }
    }
    revoking_ = std::move(list);
    revoke_until_ = std::chrono::steady_clock::now() + revoke_patience;
    if (lost || closing_) return finish_revoke();
    proceed_revoke();
}

bool member::settled_down(const holding& what) const {
    if (what.core.handed_out() == 0) return true;
    if (!plan_.shards) return false;
    const auto* who = owner_of(what);
    return who == nullptr || (!who->told_lost && !who->failure);
}

/// Gives partitions up once the calls of their messages have ended and that is committed.
void member::proceed_revoke() {
    if (!revoking_ || !client_) return;
    if (rd_kafka_assignment_lost(client_->get()) != 0) return finish_revoke();
    const bool late = std::chrono::steady_clock::now() >= revoke_until_;
    for (const auto& [where, each] : holdings_) {
        if (each->now == stage::revoking && !late && !settled_down(*each)) return;
    }
    if (!std::exchange(revoke_committing_, true)) return commit_now();
    if (!said_goodbye(true) && !late) return;
    finish_revoke();
}

void member::finish_revoke() {
    const auto list = std::exchange(revoking_, nullptr);
    revoke_committing_ = false;
    for (const auto& one : rows(*list)) {
        const auto found = holdings_.find({one.topic, one.partition});
        if (found == holdings_.end()) continue;
        drop(*found->second, lease_lost_error());
        holdings_.erase(found);
    }
    const owned_error ignored(rd_kafka_incremental_unassign(client_->get(), list.get()));
    serve();
}

/// Without a group: all partitions, from where they were when the subscription was made.
void member::assign_all() {
    const auto list = make_partitions(8);
    for (const auto& [topic, offsets] : plan_.starts) {
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            auto* row = rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), static_cast<std::int32_t>(i));
            row->offset = offsets[i];
            holdings_[{topic, row->partition}] = open_holding(*row, offsets[i], std::nullopt);
        }
    }
    rd_kafka_assign(client_->get(), list.get());
}

void member::leave(steady_time until, bool soon, spi::callback<void(error)> done) {
    if (closed_) return done({});
    (soon ? left_soon_ : left_).push_back(std::move(done));
    leave_until_ = std::min(leave_until_, until);
    if (std::exchange(leaving_, true)) return;
    for (const auto& who : std::vector(receivers_))
        who->answer(error(errc::closed, "the broker was closed"));
    if (!client_) return closed();
    self_ = shared_from_this();
    // librdkafka 2.0.2 aborts where a member ends between its join and its first assignment.
    constexpr std::chrono::seconds join_patience{2};
    join_until_ = std::chrono::steady_clock::now() + join_patience;
    if (poll_timer_) parts_.on->cancel(*poll_timer_);
    keep_polling();
    commit_now();
    proceed_leave();
}

void member::proceed_leave() {
    if (!leaving_ || closed_) return;
    const bool late = std::chrono::steady_clock::now() >= leave_until_;
    if (!closing_) {
        const bool joining = !plan_.groupless && !ever_assigned_ && std::chrono::steady_clock::now() < join_until_;
        if (!late && (assigning_ || joining || !said_goodbye(false))) return;
        close_client();
    }
    if (late || plan_.groupless || rd_kafka_consumer_closed(client_->get()) != 0) return closed();
    if (std::chrono::steady_clock::now() < soon_) return;
    for (auto& done : std::exchange(left_soon_, {}))
        done({});
}

void member::close_client() {
    constexpr std::chrono::seconds patience{1};
    closing_ = true;
    soon_ = std::chrono::steady_clock::now() + patience;
    if (assigning_) {  // too late to ask what was committed
        const auto list = std::exchange(assigning_, nullptr);
        const owned_error ignored(rd_kafka_incremental_assign(client_->get(), list.get()));
    }
    if (revoking_) finish_revoke();
    if (plan_.groupless) return;
    const owned_error refused(rd_kafka_consumer_close_queue(client_->get(), events_.get()));
}

void member::closed() {
    closed_ = true;
    if (poll_timer_) parts_.on->cancel(*poll_timer_);
    if (due_timer_) parts_.on->cancel(*due_timer_);
    if (commit_timer_) parts_.on->cancel(*commit_timer_);
    for (const auto& [where, each] : holdings_)
        drop(*each, lease_lost_error());
    holdings_.clear();
    in_commit_.clear();
    for (auto* queue : {&events_, &answers_}) {
        if (*queue) rd_kafka_queue_cb_event_enable(queue->get(), nullptr, nullptr);
        queue->reset();
    }
    if (bell_) bell_->silence();
    if (book_) book_->close();
    auto client = std::exchange(client_, nullptr);
    // Its end blocks.
    parts_.asking->ask([client](rd_kafka_t*) mutable { client.reset(); }, [](const error&) {});
    client.reset();
    const auto self = std::exchange(self_, nullptr);
    for (auto* list : {&left_soon_, &left_}) {
        for (auto& done : std::exchange(*list, {}))
            done({});
    }
}

}  // namespace shove::kafka_backend
