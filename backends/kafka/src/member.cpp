#include "member.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "message_view.hpp"
#include "refusal.hpp"

namespace shove::kafka_backend {

namespace {

/// The client wants to be asked for events now and then, whatever happens; far below `max.poll.interval.ms`.
constexpr milliseconds poll_pause{500};
/// While it leaves nothing tells when it is done.
constexpr milliseconds poll_pause_leaving{5};
/// Of messages that wait so many are read ahead, in search of what is due.
constexpr std::size_t most_waiting = 1'000;
constexpr std::size_t most_at_once = 64;

}  // namespace

member::member(member_parts parts, member_plan plan) : parts_(std::move(parts)), plan_(std::move(plan)) {}

member::~member() = default;

error member::start() {
    auto made = parts_.make_client(plan_.group);
    if (!made) return made.error();
    client_ = std::move(*made);
    rd_kafka_poll_set_consumer(client_->get());
    events_.reset(rd_kafka_queue_get_consumer(client_->get()));
    answers_.reset(rd_kafka_queue_new(client_->get()));
    bell_ = std::make_shared<loop::bell>(parts_.on, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->poll();
    });
    const auto ring = [](rd_kafka_t*, void* to) { loop::bell::ring(*static_cast<std::shared_ptr<loop::bell>*>(to)); };
    rd_kafka_queue_cb_event_enable(events_.get(), ring, &bell_);
    rd_kafka_queue_cb_event_enable(answers_.get(), ring, &bell_);
    keep_polling();
    if (!plan_.keys.empty()) {
        book_ = std::make_shared<key_book>(parts_.settings, parts_.on, parts_.asking, plan_.keys,
                                           [weak = weak_from_this()] {
                                               if (const auto self = weak.lock()) self->serve();
                                           });
        if (auto failed = book_->start()) return failed;
    }
    if (plan_.groupless) {
        assign_all();
        return {};
    }
    const auto wanted = make_partitions(plan_.topics.size());
    for (const auto& topic : plan_.topics)
        rd_kafka_topic_partition_list_add(wanted.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
    const auto refused = rd_kafka_subscribe(client_->get(), wanted.get());
    if (refused != RD_KAFKA_RESP_ERR_NO_ERROR) return broker_error("subscribing to '" + plan_.place + "'", refused);
    return {};
}

void member::look_again() {
    if (leaving_ || !client_ || plan_.groupless) return;
    // Only an answer that lists all topics has the client look for new ones that it reads.
    auto look = [client = client_](rd_kafka_t*) {
        constexpr int patience_ms = 5'000;
        const rd_kafka_metadata_t* all = nullptr;
        rd_kafka_metadata(client->get(), 1, nullptr, &all, patience_ms);
        if (all != nullptr) rd_kafka_metadata_destroy(all);
    };
    parts_.asking->ask(std::move(look), [](const error&) {});
}

void member::attach(std::shared_ptr<receiver> who) {
    receivers_.push_back(std::move(who));
}

void member::detach(const std::shared_ptr<receiver>& who, spi::callback<void(error)> done) {
    if (std::exchange(who->closed, true)) return done({});
    who->answer(error(errc::closed, "the subscription to '" + plan_.place + "' was closed"));
    for (const auto& [where, each] : holdings_) {
        const bool owned = plan_.shards > 0 && owner_of(*each) == who.get();
        if (plan_.shards > 0 && !owned) continue;
        each->core.take_back(who->id);
        if (owned) each->core.change_hands();
    }
    std::erase(receivers_, who);
    if (receivers_.empty()) {
        constexpr std::chrono::seconds patience{10};
        return leave(std::chrono::steady_clock::now() + patience, true, std::move(done));
    }
    proceed_revoke();
    if (plan_.shards) commit_now();
    serve();
    done({});
}

void member::wanted(const std::shared_ptr<receiver>& who) {
    if (who->closed || leaving_) {
        return who->answer(error(errc::closed, "the subscription to '" + plan_.place + "' was closed"));
    }
    if (who->failure) return who->answer(*std::exchange(who->failure, std::nullopt));
    if (std::exchange(who->told_lost, false)) {  // it has dropped all that it had, of whatever partition
        for (const auto& [where, each] : holdings_) {
            if (each->now == stage::open && reads(*who, *each)) each->core.take_back(who->id);
        }
        proceed_revoke();
    }
    serve();
}

std::vector<member::share> member::shares(const std::string& topic) const {
    std::vector<share> made;
    for (const auto& [where, each] : holdings_) {
        const auto next = each->core.next();
        if (where.first != topic || each->now == stage::gone || !next) continue;
        made.push_back({where.second, *next, each->core.unsettled(), each->core.handed_out()});
    }
    return made;
}

error member::lease_lost_error() const {
    return {errc::lease_lost, "a partition of '" + plan_.place + "' belongs to another consumer now"};
}

member::holding* member::holding_of(std::uint64_t tag) const {
    const auto found = slots_.find(owned_partition::slot_of(tag));
    if (found == slots_.end() || found->second->now == stage::gone) return nullptr;
    return found->second.get();
}

std::vector<std::uint64_t> member::lost(const std::vector<std::uint64_t>& tags) const {
    std::vector<std::uint64_t> made;
    for (const auto tag : tags) {
        const auto* of = holding_of(tag);
        // One that is being given up is its holder's until its calls have ended; a shard's holder must know, though.
        if (of == nullptr || (plan_.shards && of->now == stage::revoking)) made.push_back(tag);
    }
    return made;
}

void member::keep_polling() {
    poll_timer_ = parts_.on->after(leaving_ ? poll_pause_leaving : poll_pause, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        self->poll_timer_.reset();
        self->poll();
        self->proceed_revoke();
        self->proceed_leave();
        if (!self->closed_) self->keep_polling();
    });
}

void member::poll() {
    while (answers_) {
        const owned_event event(rd_kafka_queue_poll(answers_.get(), 0));
        if (!event) break;
        hear(event.get());
    }
    while (events_) {
        const owned_event event(rd_kafka_queue_poll(events_.get(), 0));
        if (!event) break;
        hear(event.get());
    }
    if (closing_) proceed_leave();
}

void member::hear(rd_kafka_event_t* event) {
    switch (rd_kafka_event_type(event)) {
        case RD_KAFKA_EVENT_REBALANCE: {
            auto* list = rd_kafka_event_topic_partition_list(event);
            auto mine = owned_partitions(rd_kafka_topic_partition_list_copy(list));
            if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) return assigned(std::move(mine));
            return revoked(std::move(mine));
        }
        case RD_KAFKA_EVENT_OFFSET_COMMIT:
            return commit_answered(event);
        case RD_KAFKA_EVENT_LISTCONSUMERGROUPOFFSETS_RESULT:
            return committed_known(event);
        case RD_KAFKA_EVENT_FETCH:
            while (const auto* record = rd_kafka_event_message_next(event)) {
                const auto found = holdings_.find({rd_kafka_topic_name(record->rkt), record->partition});
                if (found != holdings_.end()) take_in(*found->second, *record);
            }
            return serve();
        case RD_KAFKA_EVENT_ERROR: {
            const auto why = rd_kafka_event_error(event);
            // A topic that is not there is picked up when it is made; connections are made again by the client.
            const bool passes = why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || why == RD_KAFKA_RESP_ERR__TRANSPORT ||
                                why == RD_KAFKA_RESP_ERR__RESOLVE || why == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            if (!passes) {
                fail_receivers(
                    broker_error("consuming '" + plan_.place + "'", why, rd_kafka_event_error_string(event)));
            }
            return;
        }
        default:
            return;
    }
}

void member::fail_receivers(const error& why) {
    for (const auto& who : std::vector(receivers_)) {
        if (who->waiting) {
            who->answer(why);
        } else if (!who->told_lost) {  // it has to hear of that first
            who->failure = why;
        }
    }
}

bool member::reads(const receiver& who, const holding& from) const {
    if (from.now != stage::open) return false;
    if (!plan_.shards) return true;
    return owner_of(from) == &who;
}

receiver* member::owner_of(const holding& what) const {
    const auto shard = static_cast<std::uint16_t>(what.core.where().number % plan_.shards);
    const auto found = std::ranges::find_if(receivers_, [&](const auto& each) { return each->shard == shard; });
    return found == receivers_.end() ? nullptr : found->get();
}

void member::take_in(holding& into, const rd_kafka_message_t& record) {
    if (record.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (record.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return;
        return fail_receivers(broker_error("reading topic '" + into.core.where().topic + "'", record.err,
                                           rd_kafka_message_errstr(&record)));
    }
    into.core.receive(record.offset, read_record(view_of(record), plan_.dead));
}

void member::fill(holding& from, std::size_t want) {
    std::array<rd_kafka_message_t*, most_at_once> got{};
    while (want > 0 && from.queue) {
        const auto room = std::min(want, got.size());
        const auto count = rd_kafka_consume_batch_queue(from.queue.get(), 0, got.data(), room);
        if (count <= 0) return;
        for (const auto* record : std::span(got).first(static_cast<std::size_t>(count))) {
            const owned_message mine(const_cast<rd_kafka_message_t*>(record));
            take_in(from, *record);
        }
        if (static_cast<std::size_t>(count) < room) return;
        want -= static_cast<std::size_t>(count);
    }
}

void member::gather(receiver& who, std::vector<spi::delivery>& into) {
    if (holdings_.empty()) return;
    auto at = std::next(holdings_.begin(), static_cast<std::ptrdiff_t>(turn_++ % holdings_.size()));
    if (book_ && !book_->known()) return;
    for (std::size_t i = 0; i < holdings_.size() && into.size() < who.max; ++i) {
        auto& from = *at->second;
        if (++at == holdings_.end()) at = holdings_.begin();
        if (!reads(who, from)) continue;
        const auto fit = [&](spi::delivery& item) { return judge(from, item); };
        from.core.hand_out(who.max - into.size(), who.id, into, fit);
        if (into.size() < who.max && !from.core.any_ready() && !from.core.where().waits) {
            fill(from, who.max - into.size());
            from.core.hand_out(who.max - into.size(), who.id, into, fit);
        }
        reserve(from);
    }
}

/// Whether a message may be handed out; if its key is poisoned it is marked so, but not before it is sure that nobody
/// has released the key meanwhile.
bool member::judge(holding& of, spi::delivery& item) {
    if (!book_) return true;
    const auto key = item.msg.key().value_or("");
    if (key.empty() || !book_->contains(key)) return true;
    if (item.tag <= of.judged_until) {
        item.poisoned = true;
        return true;
    }
    if (std::exchange(of.judging, true)) return false;
    book_->refresh([weak = weak_from_this(), until = of.core.last_ready()] {
        const auto self = weak.lock();
        auto* which = self ? self->holding_of(until) : nullptr;
        if (which == nullptr) return;
        which->judging = false;
        which->judged_until = std::max(which->judged_until, until);
        self->serve();
    });
    return false;
}

/// Says how far it may hand out, before it does: who comes after a sudden end knows then what may have been in hand.
void member::reserve(holding& what) {
    constexpr std::int64_t least = 64;
    constexpr std::int64_t most = 8'192;
    if (what.core.where().groupless) return;
    const bool must = what.core.must_reserve();
    if (!must && (what.core.reserve_left() > what.chunk / 2 || what.core.handed_out() == 0)) return;
    if (what.core.dirty() && committing_ && what.core.reserve_left() > 0) return;
    const auto now = std::chrono::steady_clock::now();
    const bool busy = now - what.reserved_at < std::chrono::seconds(1);
    what.chunk = std::clamp(busy ? what.chunk * 2 : what.chunk / 2, least, most);
    what.reserved_at = now;
    what.core.reserve(what.chunk);
    commit_now();
}

void member::serve() {
    if (closing_) return;
    std::optional<wall_time> next;
    const auto now = parts_.time->wall();
    for (const auto& [where, each] : holdings_) {
        if (!each->core.where().waits || each->now != stage::open) continue;
        if (each->core.held_back() < most_waiting) fill(*each, most_waiting - each->core.held_back());
        const auto due = each->core.make_due(now);
        if (due && (!next || *due < *next)) next = due;
    }
    watch_due(next);
    // Answered first and then called: who is called may ask again.
    std::vector<std::pair<std::shared_ptr<receiver>, std::vector<spi::delivery>>> ready;
    for (const auto& who : receivers_) {
        if (!who->waiting) continue;
        std::vector<spi::delivery> batch;
        gather(*who, batch);
        if (!batch.empty()) ready.emplace_back(who, std::move(batch));
    }
    if (ready.size() > 1)
        std::rotate(receivers_.begin(), receivers_.begin() + (plan_.shards ? 0 : 1), receivers_.end());
    for (auto& [who, batch] : ready)
        who->answer(std::move(batch));
}

void member::watch_due(std::optional<wall_time> next) {
    if (!next || (due_timer_ && due_at_ <= *next)) return;
    if (due_timer_) parts_.on->cancel(*due_timer_);
    due_at_ = *next;
    const auto in = std::chrono::ceil<milliseconds>(*next - parts_.time->wall());
    due_timer_ = parts_.on->after(std::max(in, milliseconds(0)), [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->due_timer_.reset();
        self->serve();
    });
}

}  // namespace shove::kafka_backend
