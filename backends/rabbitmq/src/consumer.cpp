#include "consumer.hpp"

#include <amqp.h>

#include <algorithm>
#include <utility>

#include "control.hpp"
#include "handled_before.hpp"
#include "wire_in.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// A frame of acknowledgements costs the server more than what it settles: a few wait so long for others.
constexpr std::chrono::milliseconds gathering_time{5};
/// What a few processes may have had in hand when they died, as far as one that has as much can tell.
constexpr std::size_t suspected_prefetches = 4;
constexpr std::size_t least_prefetch = 16;

}  // namespace

consumer::consumer(const std::shared_ptr<intake>& on, consumer_plan plan, started done)
    : intake_(on),
      plan_(std::move(plan)),
      started_(std::move(done)),
      doubts_(suspected_prefetches * std::max<std::size_t>(plan_.prefetch, least_prefetch)) {}

consumer::~consumer() = default;

// --- from any thread ----------------------------------------------------------------------------------

void consumer::receive(std::size_t max, receive_done done) {
    std::vector<spi::delivery> batch;
    std::optional<error> failure;
    bool resumed = false;
    {
        const std::lock_guard lock(mutex_);
        resumed = !std::exchange(wanted_, true);
        if (departing_ || leaving_) {
            failure = closed_error();
        } else if (failure_) {
            failure = std::exchange(failure_, std::nullopt);
        } else if (!ready_.empty()) {
            batch = take(max);
        } else {
            std::swap(receiving_, done);  // there is none: one at a time
            receive_max_ = max;
        }
    }
    if (resumed) flush();
    if (!done) return;
    if (failure) return done(std::move(*failure));
    done(std::move(batch));
}

/// With the lock held.
std::vector<spi::delivery> consumer::take(std::size_t max) {
    std::vector<spi::delivery> batch;
    const auto count = std::min(max, ready_.size());
    batch.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto& item = ready_.front();
        handed_.emplace(item.tag, item.msg);
        if (item.past && item.past->crashes > 0) suspects_[item.tag] = item.past->crashes;
        batch.push_back(std::move(ready_.front()));
        ready_.pop_front();
    }
    return batch;
}

void consumer::cancel_receive() {
    receive_done waiting;
    {
        const std::lock_guard lock(mutex_);
        waiting = std::exchange(receiving_, nullptr);
        wanted_ = false;
    }
    flush();
    if (waiting) waiting(error(errc::cancelled));
}

bool consumer::let_go(std::uint64_t tag, release_kind how, std::shared_ptr<transaction_user> of, std::size_t index) {
    const std::lock_guard lock(mutex_);
    const auto at = handed_.find(tag);
    if (at == handed_.end()) return false;
    const bool suspect = !suspects_.empty() && suspects_.erase(tag) > 0;
    if (suspect && plan_.notes && how == release_kind::ack) plan_.notes->ended(record_id(at->second));
    if (ledger_ && !plan_.transactional) ledger_->drop(at->second);
    if (how == release_kind::requeue) {
        ops_due_ = {};
    } else if (ops_.empty()) {
        ops_due_ = std::chrono::steady_clock::now() + gathering_time;
        alarm_set_ = false;
    }
    ops_.push_back({tag, how, std::move(at->second), take_mark(tag), std::move(of), index});
    if (how == release_kind::requeue && !receiving_) wanted_ = false;
    handed_.erase(at);
    return true;
}

bool consumer::may_gather() const {
    const auto many = std::max(plan_.prefetch / 4, 1);
    return !plan_.transactional && wanted_ && !departing_ && ops_.size() < static_cast<std::size_t>(many);
}

void consumer::flush_soon() {
    {
        const std::lock_guard lock(mutex_);
        const bool known = std::exchange(alarm_set_, true);
        if (known && may_gather() && std::chrono::steady_clock::now() < ops_due_) return;
    }
    flush();
}

bool consumer::holds(std::uint64_t tag) const {
    const std::lock_guard lock(mutex_);
    return handed_.contains(tag);
}

void consumer::leave(spi::callback<void(error)> done) {
    receive_done waiting;
    started never;
    std::shared_ptr<shard_ledger> book;
    std::vector<spi::delivery> withheld;
    bool in_order = false;
    {
        const std::lock_guard lock(mutex_);
        if (!departing_ && !leaving_) {
            departing_ = true;
            wanted_ = false;
            left_ = std::move(done);
            done = nullptr;
            waiting = std::exchange(receiving_, nullptr);
            never = std::exchange(started_, nullptr);
            book = ledger_;
            withheld.swap(withheld_);
            in_order = handed_.empty();
        }
    }
    if (done) return done({});
    if (waiting) waiting(error(errc::cancelled));
    if (never) never(error(errc::cancelled));
    if (!plan_.shard) return flush();  // see depart_when_done
    if (!book) return depart();
    book->leave(in_order, std::move(withheld), [self = shared_from_this()] { self->depart(); });
}

void consumer::depart() {
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    flush();
}

void consumer::depart_when_done(const connection& on) {
    const std::lock_guard lock(mutex_);
    const bool all_gone = giving_back_ == 0 && ops_.empty() && committing_ == 0;
    const bool done = departing_ && !consuming_ && all_gone && !on.has_input();
    if (done) leaving_ = true;
}

std::size_t consumer::unsettled() const {
    const std::lock_guard lock(mutex_);
    const auto waiting = doubts_.size() + taking_.size() + judged_.size() + withheld_.size();
    return ready_.size() + waiting + handed_.size() + ops_.size() + committing_;
}

// --- on the connection's thread -----------------------------------------------------------------------

bool consumer::leaving() const {
    const std::lock_guard lock(mutex_);
    const bool commits = plan_.transactional && attached_ && (committing_ > 0 || !ops_.empty());
    return (leaving_ && !commits && awaited_.empty()) || (departing_ && !attached_);
}

steady_time consumer::due() const {
    const std::lock_guard lock(mutex_);
    const auto doubts_due = telling_ == 0 ? doubts_.due() : std::max(doubts_.due(), calm_at_);
    return std::min({due_, send_at_, doubts_due, withheld_.empty() ? steady_time::max() : withheld_until_});
}

/// All that the engine has not got, and of which is known what to say. With the lock held.
void consumer::take_all(std::deque<spi::delivery>& into) {
    into.swap(ready_);
    for (auto* some : {&arrived_, &taking_, &judged_})
        std::ranges::move(std::exchange(*some, {}), std::back_inserter(into));
}

void consumer::follow_demand(connection& on) {
    bool wanted = false;
    std::deque<spi::delivery> unwanted;
    std::vector<spi::delivery> unclear;
    farewell what;
    {
        const std::lock_guard lock(mutex_);
        wanted = wanted_ && !giving_way_;
        if (!wanted) {
            take_all(unwanted);
            what.missed = doubts_.missed();
            unclear = doubts_.take_all();
        }
        for (const auto& item : unwanted)
            handed_.emplace(item.tag, item.msg);
        for (const auto& item : unclear) {
            handed_.emplace(item.tag, item.msg);
            suspects_.emplace(item.tag, 1);  // should the channel go meanwhile
        }
    }
    if (wanted != consuming_) wanted ? resume(on) : pause(on);
    if (!unclear.empty()) note_first(what, [this, unclear = std::move(unclear)] { requeue(unclear); });
    if (unwanted.empty()) return;
    give_back({std::make_move_iterator(unwanted.begin()), std::make_move_iterator(unwanted.end())}, [] {});
}

void consumer::frame(connection& on, amqp_frame_t& what) {
    if (what.frame_type == AMQP_FRAME_METHOD) {
        const auto& method = what.payload.method;
        if (method.id == AMQP_BASIC_DELIVER_METHOD) {
            const auto& told = *static_cast<const amqp_basic_deliver_t*>(method.decoded);
            number_ = told.delivery_tag;
            redelivered_ = told.redelivered != 0;
            exchange_.assign(text_of(told.exchange));
            routing_key_.assign(text_of(told.routing_key));
            return;  // its header follows
        }
        if (method.id == AMQP_BASIC_RETURN_METHOD) {
            transaction_.returned(text_of(static_cast<const amqp_basic_return_t*>(method.decoded)->routing_key));
            returning_ = true;
            return;  // its header follows
        }
        if (method.id == AMQP_TX_COMMIT_OK_METHOD) committed();
        if (method.id == AMQP_BASIC_CANCEL_METHOD) cancelled_ = true;
        return on.forget_frames(channel_);
    }
    const bool whole = what.frame_type == AMQP_FRAME_HEADER ? parts_.header(what) : parts_.body(what);
    if (!whole) return;
    if (std::exchange(returning_, false)) {
        parts_.take();
    } else {
        delivered();
    }
    on.forget_frames(channel_);
}

void consumer::delivered() {
    window_.add();
    const auto parts = parts_.take();
    auto read = read_message(*parts.properties, parts.body,
                             {.exchange = exchange_,
                              .routing_key = routing_key_,
                              .key_exchange = plan_.key_exchange,
                              .dead_letter_queue = plan_.dead},
                             parts.owner);
    auto& item = arrived_.emplace_back();
    item.msg = std::move(read.msg);
    item.past = std::move(read.past);
    item.tag = tag_of(number_);
    item.redelivered = redelivered_ || (!plan_.dead && handled_before(*parts.properties));
    if (!awaited_.empty()) {
        returned(item);
        return arrived_.pop_back();
    }
    const auto mark = copy_mark(*parts.properties);
    if (mark != 0) {
        const std::lock_guard lock(mutex_);
        marks_[item.tag] = mark;
    }
    if (!redelivered_) {
        if (std::exchange(doubtful_row_, false)) {
            const std::lock_guard lock(mutex_);
            doubts_.row_ends();
        }
        if (plan_.lost && !plan_.lost->empty()) plan_.lost->is_new(name_of_copy(item.msg.id(), mark));
        return;
    }
    if (is_known(item, mark)) return arrived_.pop_back();
    if (!plan_.notes) return;
    {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        doubts_.add(std::move(item), now, std::max(now + grace, calm_at_));
    }
    doubtful_row_ = true;
    arrived_.pop_back();
}

void consumer::work(connection& on) {
    if (plan_.notes) clear_doubts();
    if (plan_.shard) {
        admit();
    } else if (!transaction_.under_way()) {  // the server takes nothing else meanwhile
        follow_demand(on);
    }
    hand_over();
    plan_.transactional ? commit(on) : send_ops(on);
    if (!plan_.shard) depart_when_done(on);
    bool broken = false;
    {
        const std::lock_guard lock(mutex_);
        broken = broken_;
    }
    if (broken) {
        on.close_channel(channel_);
        return lost(error(errc::lease_lost, "the state of shard '" + plan_.queue + "' was lost"), 0);
    }
    if (!cancelled_) return heed_timeout(on);
    on.close_channel(channel_);
    lost(error(errc::unknown_queue, "queue '" + plan_.queue +
                                        "': RabbitMQ ended the consumer; the queue was deleted or "
                                        "moved to another node"),
         0);
}

/// Gives what has arrived to a waiting receive, and keeps the rest.
void consumer::hand_over() {
    receive_done waiting;
    std::vector<spi::delivery> batch;
    {
        const std::lock_guard lock(mutex_);
        if (!plan_.shard || admits_) {
            std::ranges::move(arrived_, std::back_inserter(ready_));
            arrived_.clear();
        }
        if (receiving_ && !ready_.empty()) {
            waiting = std::exchange(receiving_, nullptr);
            batch = take(receive_max_);
        }
    }
    if (waiting) waiting(std::move(batch));
}

void consumer::send_ops(connection& on) {
    std::vector<departure> ops;
    {
        const std::lock_guard lock(mutex_);
        const bool later = !ops_.empty() && may_gather() && std::chrono::steady_clock::now() < ops_due_;
        send_at_ = later ? ops_due_ : steady_time::max();
        if (!later) ops = take_ops();
    }
    if (ops.empty()) return;
    const corked packets(on);
    send_releases(on, ops);
}

void consumer::send_releases(connection& on, const std::vector<departure>& which) {
    for (const auto& what : which) {
        if (what.how == release_kind::ack) window_.ack(number_now(what.tag));
    }
    for (const auto& what : which) {
        const auto number = number_now(what.tag);
        if (what.how == release_kind::ack || !window_.is_open(number)) continue;
        on.requeue(channel_, number, false);
        window_.gone(number);
    }
    for (const auto& ack : window_.take_frames())
        on.ack(channel_, ack.tag, ack.multiple);
}

}  // namespace shove::rabbitmq_backend
