#include "shard_ledger.hpp"

#include <algorithm>
#include <utility>

#include "posting.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// An owner that is in doubt and goes sooner takes the last one's side.
constexpr std::chrono::milliseconds too_soon{300};
constexpr std::chrono::seconds patience{60};

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

// What may be called from any thread.

void shard_ledger::annotate(spi::delivery& item) {
    const std::lock_guard lock(mutex_);
    item.fence = fence_;
    const auto key = item.msg.key();
    item.poisoned = key && !keys_.empty() && keys_.contains(std::string(*key));
    const bool perhaps = cut_off();
    if (!perhaps || std::chrono::steady_clock::now() >= calm_at()) ++met_;
    const auto id = messages_.empty() && !(perhaps && item.redelivered) ? std::string() : record_id(item.msg);
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
        if (known.alone && perhaps) ++crashes;
        known.alone = false;
    }
    // In the hands of a process that died: perhaps it was the cause.
    if (item.redelivered && perhaps) crashes = std::max(crashes, 1U);
    if (crashes > 0) {
        if (!item.past) item.past = std::make_unique<spi::history>();
        auto& known = messages_[id];
        known.unwritten = known.unwritten || perhaps;
        item.past->crashes = crashes;
        known.past = std::make_unique<spi::history>(*item.past);
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

steady_time shard_ledger::in_doubt_until() const {
    const std::lock_guard lock(mutex_);
    return cut_off() ? calm_at() : steady_time{};
}

bool shard_ledger::in_doubt(const spi::delivery& item) const {
    const std::lock_guard lock(mutex_);
    if (!cut_off()) return false;
    return item.redelivered || (!messages_.empty() && messages_.contains(record_id(item.msg)));
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
            known.unwritten = false;
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

void shard_ledger::leave(bool in_order, std::vector<spi::delivery> withheld, unique_function<void()> done) {
    bool write_it = false;
    {
        const std::lock_guard lock(mutex_);
        heard_ = nullptr;
        write_it = in_order && loaded_ && !left_;
        if (write_it) left_ = true;
        if (!write_it) leaving_ = true;
    }
    if (!write_it) {
        ring();
        return done();
    }
    write_orderly(std::move(withheld), [self = shared_from_this(), done = std::move(done)]() mutable {
        {
            const std::lock_guard lock(self->mutex_);
            self->leaving_ = true;
        }
        self->ring();
        done();
    });
}

void shard_ledger::abandon(std::vector<spi::delivery> withheld) {
    bool write_it = false;
    {
        const std::lock_guard lock(mutex_);
        heard_ = nullptr;
        leaving_ = true;
        write_it = loaded_ && !left_;
        left_ = true;
    }
    if (write_it) write_orderly(std::move(withheld), [] {});
    ring();
}

void shard_ledger::write_orderly(std::vector<spi::delivery> withheld, unique_function<void()> done) {
    const auto now = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        if (now < loaded_at_ + too_soon) withheld.clear();
    }
    for (auto& item : withheld) {
        if (in_doubt(item)) annotate(item);
    }
    shard_record record;
    record.what = shard_record::kind::orderly;
    record.owner = who_.process;
    std::vector<std::string> suspects;  // each with its crashes
    {
        const std::lock_guard lock(mutex_);
        record.fence = fence_;
        for (const auto& [id, known] : messages_) {
            if (!known.unwritten || known.settled || !known.past) continue;
            suspects.push_back(id);
            suspects.push_back(std::to_string(known.past->crashes));
        }
    }
    std::vector<parcel> what;
    what.push_back(written(record, to_state_, suspects));
    post_until_known(publishing_, std::move(what), now + patience,
                     [done = std::move(done)](const error&) mutable { done(); });
}

void shard_ledger::ring() {
    if (const auto on = intake_.lock()) on->wake();
}

}  // namespace shove::rabbitmq_backend
