#include "consumer.hpp"

#include <algorithm>
#include <utility>

// Messages that were delivered before: to a call of this process that goes on, to somebody who gave them back, or to a
// process that died over them.

namespace shove::rabbitmq_backend {
namespace {

/// A message that is given back waits for its note; one that is lost does not.
constexpr std::chrono::seconds patience_with_returns{10};
constexpr std::chrono::seconds patience_with_losses{60};

}  // namespace

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
    }
    if (msg && plan_.notes) return plan_.notes->alone(record_id(msg), crashes, std::move(done));
    if (!msg || !book) return done({});
    book->write_alone(msg, std::move(done));
}

void consumer::give_back(std::vector<spi::delivery> items, unique_function<void()> done) {
    std::vector<const spi::delivery*> unbegun;
    unbegun.reserve(items.size());
    for (const auto& item : items)
        unbegun.push_back(&item);
    say_unbegun(unbegun, [this, items = std::move(items), done = std::move(done)]() mutable {
        requeue(items);
        done();
    });
}

void consumer::requeue(const std::vector<spi::delivery>& items) {
    for (const auto& item : items)
        let_go(item.tag, release_kind::requeue);
    flush();
}

void consumer::say_unbegun(const std::vector<const spi::delivery*>& items, unique_function<void()> done) {
    farewell what;
    {
        const std::lock_guard lock(mutex_);
        for (const auto* item : items)
            add_to(what, item->tag, item->msg);
    }
    note_first(what, std::move(done));
}

void consumer::note_first(const farewell& what, unique_function<void()> done) {
    {
        const std::lock_guard lock(mutex_);
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
    if (!plan_.notes || what.empty()) return go();
    plan_.notes->give_back(what, patience_with_returns, std::move(go));
}

void consumer::add_to(farewell& what, std::uint64_t tag, const message& msg) const {
    const auto at = suspects_.find(tag);
    if (at == suspects_.end()) {
        what.innocent.push_back(record_id(msg));
    } else {
        what.suspects.emplace_back(record_id(msg), at->second);
    }
}

farewell consumer::lost_ones(const std::vector<departure>& unsent) const {
    farewell what;
    for (const auto& [tag, msg] : handed_)
        add_to(what, tag, msg);
    for (const auto& item : ready_)
        add_to(what, item.tag, item.msg);
    for (const auto* some : {&arrived_, &taking_, &judged_}) {
        for (const auto& item : *some)
            add_to(what, item.tag, item.msg);
    }
    for (const auto& one : unsent)
        add_to(what, one.tag, one.msg);
    what.missed = doubts_.missed();
    return what;
}

/// Nobody is to suspect what this process had: it lives.
void consumer::say_lost(const farewell& what) {
    {
        const std::lock_guard lock(mutex_);
        counted_.clear();
        counted_.insert(what.suspects.begin(), what.suspects.end());
        ++telling_;
    }
    plan_.notes->give_back(what, patience_with_losses, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        {
            const std::lock_guard lock(self->mutex_);
            --self->telling_;
        }
        self->flush();
    });
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
        known_again(item.tag, item.msg);
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
    known_again(item.tag, item.msg);
    return true;
}

void consumer::known_again(std::uint64_t tag, const message& msg) {
    const std::lock_guard lock(mutex_);
    handed_.emplace(tag, msg);
    if (!plan_.notes) return;
    auto id = record_id(msg);
    const auto counted = counted_.find(id);
    if (counted == counted_.end()) return known_again_.push_back(std::move(id));
    suspects_[tag] = counted->second;
    counted_.erase(counted);
}

/// Settles a message that came back by what its call has said.
bool consumer::apply(std::uint64_t tag, spi::settlement& how) {
    how.item.tag = tag;
    const bool done = how.kind == spi::settlement_kind::complete;
    if (!done) return_known(tag);
    const bool gone = let_go(tag, done ? release_kind::ack : release_kind::requeue);
    flush();
    // A retry or a dead letter: better handled once more than copied twice.
    return gone || !(done || how.kind == spi::settlement_kind::release);
}

void consumer::return_known(std::uint64_t tag) {
    farewell what;
    {
        const std::lock_guard lock(mutex_);
        const auto at = handed_.find(tag);
        if (!plan_.notes || at == handed_.end()) return;
        std::erase(known_again_, record_id(at->second));
        add_to(what, tag, at->second);
    }
    plan_.notes->give_back(what, patience_with_returns, [] {});
}

void consumer::clear_doubts() {
    std::vector<std::string> known;
    bool read = false;
    {
        const std::lock_guard lock(mutex_);
        std::ranges::move(judged_, std::back_inserter(arrived_));
        judged_.clear();
        if (doubts_.size() == 0 && known_again_.empty()) return;
        const auto now = std::chrono::steady_clock::now();
        // Its own notes come first, if they can be written at all.
        if (telling_ > 0 && now < calm_at_) return;
        known.swap(known_again_);
        read = doubts_.begin(now);
    }
    if (!known.empty()) plan_.notes->take(known, [] {});
    if (!read) return;
    plan_.notes->read([weak = weak_from_this(), epoch = epoch_](const std::optional<findings>& found) {
        if (const auto self = weak.lock()) self->notes_read(epoch, found);
    });
}

void consumer::notes_read(std::uint64_t epoch, const std::optional<findings>& found) {
    std::vector<std::string> cleared;
    {
        const std::lock_guard lock(mutex_);
        if (epoch != epoch_) return;
        auto told = doubts_.judge(found);
        for (auto& item : told.suspect) {
            suspects_[item.tag] = item.past->crashes;
            judged_.push_back(std::move(item));
        }
        cleared.reserve(told.innocent.size());
        for (const auto& item : told.innocent)
            cleared.push_back(record_id(item.msg));
        taking_ = std::move(told.innocent);
    }
    if (cleared.empty()) return taken(epoch);
    flush();
    plan_.notes->take(cleared, [weak = weak_from_this(), epoch] {
        if (const auto self = weak.lock()) self->taken(epoch);
    });
}

void consumer::taken(std::uint64_t epoch) {
    {
        const std::lock_guard lock(mutex_);
        if (epoch != epoch_) return;
        doubts_.done(std::chrono::steady_clock::now());
        std::ranges::move(std::exchange(taking_, {}), std::back_inserter(judged_));
    }
    flush();
}

}  // namespace shove::rabbitmq_backend
