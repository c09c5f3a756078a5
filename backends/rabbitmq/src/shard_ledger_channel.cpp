#include "shard_ledger.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

// A ledger's channel: how it reads what was written, and keeps what still counts. On the connection's thread.

namespace shove::rabbitmq_backend {
namespace {

/// An owner that is about to leave takes the mark of the next one for one that is done with.
constexpr std::chrono::milliseconds marked_again{500};

}  // namespace

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
    take(tag, std::move(*record), parts.body);
}

void shard_ledger::take(std::uint64_t tag, shard_record record, std::span<const std::byte> body) {
    const std::lock_guard lock(mutex_);
    // From an owner that did not know yet that it is none any more.
    const bool owners = record.what == shard_record::kind::owner || record.what == shard_record::kind::orderly;
    if (loaded_ && !owners && record.fence != 0 && record.fence < fence_) return let_go(tag);
    switch (record.what) {
        case shard_record::kind::mark:
        case shard_record::kind::suspect:
        case shard_record::kind::taken:
        case shard_record::kind::missed:
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
            return take_orderly(tag, record, body);
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

/// What a live process writes that was cut off may come late. It speaks for itself only, not for those who have had the
/// shard since.
void shard_ledger::take_orderly(std::uint64_t tag, const shard_record& record, std::span<const std::byte> body) {
    const bool own = loaded_ && record.owner == who_.process && record.fence == fence_;
    if (own) return owner_tags_.push_back(tag);
    const bool newer = record.fence > fence_ || last_owner_.empty();
    const bool of_last = loaded_ ? record.owner == last_owner_ && record.fence + 1 == fence_
                                 : newer || (record.fence == fence_ && record.owner == last_owner_);
    if (!of_last) return let_go(tag);
    fence_ = std::max(fence_, record.fence);
    last_owner_ = record.owner;
    last_orderly_ = true;
    loaded_ ? let_go(tag) : owner_tags_.push_back(tag);
    const auto suspects = listed_in(body);
    for (std::size_t i = 0; i + 1 < suspects.size(); i += 2) {
        const auto& number = suspects[i + 1];
        std::uint32_t crashes = 1;
        std::from_chars(number.data(), number.data() + number.size(), crashes);
        const auto [at, first] = messages_.try_emplace(suspects[i]);
        auto& known = at->second;
        if (known.settled) continue;
        if (first) known.from_before = true;
        if (!known.past) known.past = std::make_unique<spi::history>();
        known.past->crashes = std::max(known.past->crashes, crashes);
        known.unwritten = true;
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
        loaded_at_ = std::chrono::steady_clock::now();
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
