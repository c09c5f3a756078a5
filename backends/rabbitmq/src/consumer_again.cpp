#include "consumer.hpp"

#include <algorithm>
#include <utility>

// Messages that were delivered before: to a call of this process that goes on, to somebody who gave them back, or to a
// process that died over them.

namespace shove::rabbitmq_backend {

void consumer::isolate(std::uint64_t tag, spi::callback<void(error)> done) {
    std::shared_ptr<shard_ledger> book;
    message msg;
    std::uint32_t crashes = 1;
    {
        const std::lock_guard lock(mutex_);
        const auto at = handed_.find(tag);
        if (at != handed_.end()) msg = at->second;
        if (open_) book = ledger_;
        if (const auto known = suspects_.find(tag); known != suspects_.end()) crashes = known->second;
        if (msg && plan_.notes) alone_[tag] = record_id(msg);
    }
    if (msg && plan_.notes) return plan_.notes->alone(record_id(msg), crashes, std::move(done));
    if (!msg || !book) return done({});
    book->write_alone(msg, std::move(done));
}

void consumer::give_back(std::vector<spi::delivery> items, unique_function<void()> done) {
    std::vector<std::uint64_t> tags;
    std::vector<const spi::delivery*> unbegun;
    for (const auto& item : items) {
        tags.push_back(item.tag);
        unbegun.push_back(&item);
    }
    say_unbegun(unbegun, [self = shared_from_this(), tags = std::move(tags), done = std::move(done)]() mutable {
        for (const auto tag : tags)
            self->let_go(tag, release_kind::requeue);
        self->flush();
        done();
    });
}

void consumer::say_unbegun(const std::vector<const spi::delivery*>& items, unique_function<void()> done) {
    std::vector<std::string> ids;
    {
        const std::lock_guard lock(mutex_);
        for (const auto* item : items) {
            // A suspect stays one: it is nothing new to anybody.
            if (!suspects_.contains(item->tag)) ids.push_back(record_id(item->msg));
        }
        ++giving_back_;
    }
    auto go = [self = shared_from_this(), done = std::move(done)]() mutable {
        done();
        {
            const std::lock_guard lock(self->mutex_);
            --self->giving_back_;
        }
        self->flush();
    };
    if (!plan_.notes || ids.empty()) return go();
    plan_.notes->give_back(ids, std::move(go));
}

bool consumer::answer_later(spi::settlement& how) {
    if (!plan_.lost) return false;
    if (!plan_.shard) {
        std::int64_t mark = 0;
        {
            const std::lock_guard lock(mutex_);
            mark = take_mark(how.item.tag);
        }
        return plan_.lost->answered(name_of_copy(how.item.msg.id(), mark), how);
    }
    // Who has the shard now decides about all but what is done.
    if (how.kind == spi::settlement_kind::complete) remember(std::move(how));
    return false;
}

void consumer::remember(spi::settlement done) {
    std::int64_t mark = 0;
    {
        const std::lock_guard lock(mutex_);
        mark = take_mark(done.item.tag);
    }
    const auto name = name_of_copy(done.item.msg.id(), mark);
    plan_.lost->remember(name, std::move(done));
}

/// With the lock held.
std::int64_t consumer::take_mark(std::uint64_t tag) {
    if (marks_.empty()) return 0;
    const auto at = marks_.find(tag);
    if (at == marks_.end()) return 0;
    const auto mark = at->second;
    marks_.erase(at);
    return mark;
}

bool consumer::is_known(const spi::delivery& item, std::int64_t mark) {
    if (!plan_.lost || plan_.lost->empty()) return false;
    const auto name = name_of_copy(item.msg.id(), mark);
    if (auto answer = plan_.lost->answer_for(name)) {
        {
            const std::lock_guard lock(mutex_);
            handed_.emplace(item.tag, item.msg);
        }
        if (apply(item.tag, *answer)) return true;
        const std::lock_guard lock(mutex_);
        handed_.erase(item.tag);
        return false;
    }
    auto settle = [weak = weak_from_this(), tag = item.tag](spi::settlement& how) {
        const auto self = weak.lock();
        return self && self->apply(tag, how);
    };
    if (plan_.shard) return false;
    if (!plan_.lost->came_back(name, std::move(settle))) return false;
    const std::lock_guard lock(mutex_);
    handed_.emplace(item.tag, item.msg);
    return true;
}

/// Settles a message that came back by what its call has said.
bool consumer::apply(std::uint64_t tag, spi::settlement& how) {
    how.item.tag = tag;
    if (how.kind == spi::settlement_kind::complete || how.kind == spi::settlement_kind::release) {
        const bool done =
            let_go(tag, how.kind == spi::settlement_kind::complete ? release_kind::ack : release_kind::requeue);
        flush();
        return done;
    }
    // A retry or a dead letter: better handled once more than copied twice.
    let_go(tag, release_kind::requeue);
    flush();
    return true;
}

void consumer::look_up_unclear() {
    bool ask = false;
    std::vector<spi::delivery> judged;
    {
        const std::lock_guard lock(mutex_);
        judged.swap(judged_);
        ask = looked_up_.empty() && !unclear_.empty();
        if (ask) looked_up_.swap(unclear_);
    }
    std::ranges::move(judged, std::back_inserter(arrived_));
    if (!ask) return;
    plan_.notes->read([weak = weak_from_this(), epoch = epoch_](const crash_notes::findings& found) {
        if (const auto self = weak.lock()) self->notes_read(epoch, found);
    });
}

void consumer::notes_read(std::uint64_t epoch, const crash_notes::findings& found) {
    {
        const std::lock_guard lock(mutex_);
        if (epoch != epoch_) return;
        for (auto& item : looked_up_) {
            judge(item, found);
            judged_.push_back(std::move(item));
        }
        looked_up_.clear();
    }
    flush();
}

/// With the lock held.
void consumer::judge(spi::delivery& item, const crash_notes::findings& found) {
    const auto at = found.find(record_id(item.msg));
    const auto own = at == found.end() ? 0U : at->second.crashes;
    const bool innocent = own == 0 && at != found.end() && at->second.given_back;
    const auto before = item.past ? item.past->crashes : 0U;
    const auto crashes = innocent ? before : std::max({before, own, 1U});
    if (crashes == 0) return;
    if (!item.past) item.past = std::make_unique<spi::history>();
    item.past->crashes = crashes;
    suspects_[item.tag] = crashes;
}

}  // namespace shove::rabbitmq_backend
