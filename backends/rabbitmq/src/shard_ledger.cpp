#include "shard_ledger.hpp"

#include <algorithm>
#include <utility>

namespace shove::rabbitmq_backend {
namespace {

/// An owner that is about to leave takes the mark of the next one for one that is done with.
constexpr std::chrono::milliseconds marked_again{500};

std::shared_ptr<const route> to_queue(std::string name) {
    return std::make_shared<const route>(route{.exchange = {}, .routing_key = std::move(name)});
}

}  // namespace

shard_ledger::shard_ledger(const std::shared_ptr<intake>& on, std::shared_ptr<outlet> publishing, identity who,
                           listener heard)
    : intake_(on),
      publishing_(std::move(publishing)),
      who_(std::move(who)),
      to_state_(to_queue(state_queue(who_.shard))),
      to_poisoned_(to_queue(poison_queue(who_.shard))),
      heard_(std::move(heard)) {}

shard_ledger::~shard_ledger() = default;

// --- from any thread ----------------------------------------------------------------------------------

void shard_ledger::annotate(spi::delivery& item) {
    const std::lock_guard lock(mutex_);
    item.fence = fence_;
    const auto key = item.msg.key();
    item.poisoned = key && !keys_.empty() && keys_.contains(std::string(*key));
    ++met_;
    const bool cut_off = !last_orderly_ && last_owner_ != who_.process;
    const auto id = messages_.empty() && !(cut_off && item.redelivered) ? std::string() : record_id(item.msg);
    const auto at = id.empty() ? messages_.end() : messages_.find(id);
    const bool noted = at != messages_.end() && !at->second.settled;
    std::uint32_t crashes = 0;
    if (noted) {
        auto& known = at->second;
        if (known.past) item.past = std::make_unique<spi::history>(*known.past);
        item.not_before = known.not_before;
        item.redelivered = true;
        known.from_before = false;
        crashes = item.past ? item.past->crashes : 0;
        if (known.alone && cut_off) ++crashes;
    }
    // In the hands of a process that died: perhaps it was the cause.
    if (item.redelivered && cut_off) crashes = std::max(crashes, 1U);
    if (crashes > 0) {
        if (!item.past) item.past = std::make_unique<spi::history>();
        item.past->crashes = crashes;
        messages_[id].past = std::make_unique<spi::history>(*item.past);
    }
    if (met_ != who_.most) return;
    // The messages that waited come first: what was not met by now was settled just before its owner went.
    for (auto it = messages_.begin(); it != messages_.end();) {
        if (!it->second.from_before) {
            ++it;
            continue;
        }
        if (it->second.tag != 0) let_go(it->second.tag);
        it = messages_.erase(it);
    }
}

void shard_ledger::write_wait(const spi::settlement& what, spi::callback<void(error)> done) {
    shard_record record;
    record.what = shard_record::kind::wait;
    record.id = record_id(what.item.msg);
    if (what.item.past) record.past = std::make_unique<spi::history>(*what.item.past);
    const auto now = std::chrono::time_point_cast<wall_time::duration>(std::chrono::system_clock::now());
    record.not_before = now + what.delay;
    write(record, std::move(done));
}

void shard_ledger::write_alone(const message& msg, spi::callback<void(error)> done) {
    shard_record record;
    record.what = shard_record::kind::wait;
    record.id = record_id(msg);
    record.alone = true;
    {
        const std::lock_guard lock(mutex_);
        const auto at = messages_.find(record.id);
        if (at != messages_.end() && at->second.past) record.past = std::make_unique<spi::history>(*at->second.past);
    }
    if (!record.past) record.past = std::make_unique<spi::history>();
    record.past->crashes = std::max(record.past->crashes, 1U);
    write(record, std::move(done));
}

void shard_ledger::write(const shard_record& what, spi::callback<void(error)> done) {
    auto kept = std::make_shared<shard_record>();
    kept->what = what.what;
    kept->id = what.id;
    kept->key = what.key;
    kept->owner = what.owner;
    kept->not_before = what.not_before;
    kept->alone = what.alone;
    if (what.past) kept->past = std::make_unique<spi::history>(*what.past);
    {
        const std::lock_guard lock(mutex_);
        kept->fence = what.fence != 0 ? what.fence : fence_;
        if (what.what == shard_record::kind::wait) {
            auto& known = messages_[what.id];
            ++known.expected;
            known.settled = false;
        }
    }
    shipment made;
    made.parcels.push_back(written(*kept, to_state_));
    made.done = [self = shared_from_this(), kept,
                 done = std::move(done)](std::vector<spi::publish_result> results) mutable {
        if (results.empty() || results.front().status == spi::publish_status::ok) return done({});
        if (kept->what == shard_record::kind::wait && results.front().status != spi::publish_status::unknown) {
            const std::lock_guard lock(self->mutex_);
            const auto at = self->messages_.find(kept->id);
            if (at != self->messages_.end() && at->second.expected > 0) --at->second.expected;
        }
        done(results.front().cause);
    };
    publishing_->post(std::move(made));
}

std::vector<parcel> shard_ledger::poison(const std::string& key) {
    shard_record record;
    record.what = shard_record::kind::poisoned;
    record.key = key;
    record.since = std::chrono::time_point_cast<wall_time::duration>(std::chrono::system_clock::now());
    {
        const std::lock_guard lock(mutex_);
        record.fence = fence_;
    }
    std::vector<parcel> made;
    made.push_back(written(record, to_state_));
    made.push_back(written(record, to_poisoned_));
    return made;
}

void shard_ledger::poisoned(const std::string& key) {
    const std::lock_guard lock(mutex_);
    keys_.try_emplace(key);
}

void shard_ledger::drop(const message& msg) {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return;
    const auto at = messages_.find(record_id(msg));
    if (at == messages_.end()) return;
    if (at->second.tag != 0) let_go(std::exchange(at->second.tag, 0));
    if (at->second.expected == 0) {
        messages_.erase(at);
    } else {
        at->second.settled = true;
    }
}

void shard_ledger::leave(bool in_order, unique_function<void()> done) {
    bool write_it = false;
    {
        const std::lock_guard lock(mutex_);
        heard_ = nullptr;
        write_it = in_order && loaded_ && !leaving_;
        if (!write_it) leaving_ = true;
    }
    if (!write_it) {
        ring();
        return done();
    }
    shard_record record;
    record.what = shard_record::kind::orderly;
    record.owner = who_.process;
    write(record, [self = shared_from_this(), done = std::move(done)](const error&) mutable {
        {
            const std::lock_guard lock(self->mutex_);
            self->leaving_ = true;
        }
        self->ring();
        done();
    });
}

void shard_ledger::ring() {
    if (const auto on = intake_.lock()) on->wake();
}

// --- on the connection's thread -----------------------------------------------------------------------

bool shard_ledger::leaving() const {
    const std::lock_guard lock(mutex_);
    return leaving_;
}

void shard_ledger::attach(connection& on) {
    channel_ = on.open_channel();
    try {
        amqp_basic_consume_t consume{};
        const auto queue = state_queue(who_.shard);
        consume.queue = bytes_of(queue);
        on.call<amqp_basic_consume_ok_t>(channel_, AMQP_BASIC_CONSUME_METHOD, &consume, AMQP_BASIC_CONSUME_OK_METHOD);
    } catch (const channel_failed&) {
        channel_ = 0;
        throw;
    }
    on.forget_frames(channel_);
    begin();
}

/// Writes the mark up to which is read.
void shard_ledger::begin() {
    shard_record record;
    record.what = shard_record::kind::mark;
    record.owner = who_.process;
    nonce_ = who_.process;
    mark_at_ = std::chrono::steady_clock::now() + marked_again;
    {
        const std::lock_guard lock(mutex_);
        marking_ = true;
    }
    write(record, [self = shared_from_this()](const error& why) {
        listener heard;
        {
            const std::lock_guard lock(self->mutex_);
            self->marking_ = false;
            if (!why) return;
            heard = std::exchange(self->heard_, nullptr);
            self->leaving_ = true;
        }
        if (heard) heard(why);
        self->ring();
    });
}

void shard_ledger::mark_again() {
    {
        const std::lock_guard lock(mutex_);
        if (marking_) {
            mark_at_ += marked_again;
            return;
        }
    }
    begin();
}

void shard_ledger::frame(connection& on, amqp_frame_t& what) {
    if (what.frame_type == AMQP_FRAME_METHOD) {
        const auto& method = what.payload.method;
        if (method.id == AMQP_BASIC_DELIVER_METHOD) {
            arriving_ = static_cast<const amqp_basic_deliver_t*>(method.decoded)->delivery_tag;
            return;
        }
        return on.forget_frames(channel_);
    }
    const bool whole = what.frame_type == AMQP_FRAME_HEADER ? parts_.header(what) : parts_.body(what);
    if (!whole) return;
    window_.add();
    arrived(arriving_, parts_.take());
    on.forget_frames(channel_);
}

void shard_ledger::arrived(std::uint64_t tag, const assembler::parts& parts) {
    auto record = read_record(*parts.properties, parts.body);
    if (!record) {  // another's: it has no business here
        const std::lock_guard lock(mutex_);
        return let_go(tag);
    }
    const bool own_mark = record->what == shard_record::kind::mark && record->owner == nonce_ && !nonce_.empty();
    if (own_mark) {
        {
            const std::lock_guard lock(mutex_);
            let_go(tag);
        }
        return mark_read();
    }
    take(tag, std::move(*record));
}

void shard_ledger::take(std::uint64_t tag, shard_record record) {
    const std::lock_guard lock(mutex_);
    // From an owner that did not know yet that it is none any more.
    const bool late = record.fence != 0 && record.fence < fence_ && record.what != shard_record::kind::owner;
    if (late && loaded_) return let_go(tag);
    switch (record.what) {
        case shard_record::kind::mark:
            return let_go(tag);
        case shard_record::kind::owner:
            fence_ = std::max(fence_, record.fence);
            if (!loaded_) {
                last_owner_ = record.owner;
                last_orderly_ = false;
            }
            owner_tags_.push_back(tag);
            return;
        case shard_record::kind::orderly:
            fence_ = std::max(fence_, record.fence);
            if (!loaded_) {
                last_owner_ = record.owner;
                last_orderly_ = true;
            }
            owner_tags_.push_back(tag);
            return;
        case shard_record::kind::wait:
            return take_wait(tag, record);
        case shard_record::kind::poisoned: {
            auto& tags = keys_[record.key].tags;
            std::ranges::for_each(tags, [this](auto held) { let_go(held); });  // the newest is enough
            tags.assign(1, tag);
            return;
        }
        case shard_record::kind::released: {
            let_go(tag);
            const auto at = keys_.find(record.key);
            if (at == keys_.end()) return;
            std::ranges::for_each(at->second.tags, [this](auto held) { let_go(held); });
            keys_.erase(at);
            return;
        }
    }
}

void shard_ledger::take_wait(std::uint64_t tag, shard_record& record) {
    auto& known = messages_[record.id];
    if (known.expected > 0) --known.expected;
    if (known.settled) {
        let_go(tag);
        if (known.expected == 0) messages_.erase(record.id);
        return;
    }
    if (known.tag != 0) let_go(known.tag);
    known.tag = tag;
    known.past = std::move(record.past);
    known.not_before = record.not_before;
    known.alone = record.alone;
    known.from_before = !loaded_;
}

/// All that was written before is read: the shard is this owner's.
void shard_ledger::mark_read() {
    nonce_.clear();
    mark_at_ = steady_time::max();
    shard_record record;
    record.what = shard_record::kind::owner;
    record.owner = who_.process;
    {
        const std::lock_guard lock(mutex_);
        record.fence = ++fence_;
        loaded_ = true;
    }
    renew_at_ = std::chrono::steady_clock::now() + who_.renewal;
    // What said whose it was goes when this is confirmed, in `owner_confirmed`.
    write(record, [self = shared_from_this()](const error& why) { self->owner_confirmed(why); });
}

void shard_ledger::renew() {
    renew_at_ = std::chrono::steady_clock::now() + who_.renewal;
    std::vector<shard_record> all(1);
    all.front().what = shard_record::kind::owner;
    all.front().owner = who_.process;
    {
        const std::lock_guard lock(mutex_);
        all.front().fence = fence_;
        for (const auto& [id, known] : messages_) {
            if (known.tag == 0 || known.settled) continue;
            auto& record = all.emplace_back();
            record.what = shard_record::kind::wait;
            record.id = id;
            record.not_before = known.not_before;
            record.alone = known.alone;
            if (known.past) record.past = std::make_unique<spi::history>(*known.past);
        }
        for (const auto& [key, known] : keys_) {
            auto& record = all.emplace_back();
            record.what = shard_record::kind::poisoned;
            record.key = key;
        }
    }
    for (const auto& record : all)
        write(record, [](const error&) {});  // what is not written is tried again next time
}

void shard_ledger::owner_confirmed(const error& why) {
    listener heard;
    {
        const std::lock_guard lock(mutex_);
        heard = heard_;
        if (why) {
            heard_ = nullptr;
            leaving_ = true;
        }
    }
    if (heard) heard(why);
    ring();
}

void shard_ledger::work(connection& on) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= renew_at_) renew();
    if (now >= mark_at_) mark_again();
    std::vector<std::uint64_t> done;
    {
        const std::lock_guard lock(mutex_);
        done.swap(done_tags_);
        // Of the records that say whose the shard is the last one is kept.
        if (loaded_ && owner_tags_.size() > 1) {
            done.insert(done.end(), owner_tags_.begin(), owner_tags_.end() - 1);
            owner_tags_.erase(owner_tags_.begin(), owner_tags_.end() - 1);
        }
    }
    if (done.empty()) return;
    const corked packets(on);
    for (const auto tag : done)
        window_.ack(tag);
    for (const auto& ack : window_.take_frames())
        on.ack(channel_, ack.tag, ack.multiple);
}

void shard_ledger::lost(const error& why, amqp_method_number_t) {
    channel_ = 0;
    listener heard;
    {
        const std::lock_guard lock(mutex_);
        heard = std::exchange(heard_, nullptr);
        leaving_ = true;
    }
    if (heard) heard(why);
}

std::optional<steady_time> shard_ledger::refused(const error& why) {
    lost(why, 0);
    return std::nullopt;
}

void shard_ledger::detach(connection* on) {
    if (on && channel_ != 0) {
        try {
            work(*on);
            on->close_channel(channel_);
        } catch (const channel_failed&) {  // it is gone already
        }
    }
    channel_ = 0;
}

}  // namespace shove::rabbitmq_backend
