#include "consumer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

// The consumer of a shard: its messages wait until the shard's ledger is read, and its notes go there.

namespace shove::rabbitmq_backend {

void consumer::put_back(spi::delivery item) {
    const std::lock_guard lock(mutex_);
    if (handed_.erase(item.tag) == 0) return;
    const auto at = std::ranges::find_if(ready_, [&](const auto& other) { return other.tag > item.tag; });
    ready_.insert(at, std::move(item));
}

std::shared_ptr<shard_ledger> consumer::ledger() const {
    const std::lock_guard lock(mutex_);
    return open_ ? ledger_ : nullptr;
}

void consumer::keep(const spi::settlement& what, spi::callback<void(error)> done) {
    std::shared_ptr<shard_ledger> book;
    {
        const std::lock_guard lock(mutex_);
        if (open_ && handed_.contains(what.item.tag)) book = ledger_;
    }
    if (!book) return done(error(errc::lease_lost, "the shard '" + plan_.queue + "' was lost"));
    book->write_wait(what, std::move(done));
}

std::vector<parcel> consumer::poison(const std::string& key) {
    const auto book = ledger();
    return book ? book->poison(key) : std::vector<parcel>();
}

void consumer::poisoned(const std::string& key) {
    if (const auto book = ledger()) book->poisoned(key);
}

void consumer::admit() {
    std::shared_ptr<shard_ledger> book;
    bool open = false;
    bool waiting = false;
    {
        const std::lock_guard lock(mutex_);
        book = ledger_;
        open = open_;
        waiting = !withheld_.empty();
    }
    admits_ = open;
    if (arrived_.empty() && !waiting) return;
    if (!book) return open_ledger();  // the first message: the shard is ours
    if (!open) return;
    arrived_ = admitted(*book);
    for (auto& item : arrived_)
        book->annotate(item);
}

/// What the last owner had in hand waits until it is known whether it died, and each key's messages in their order.
std::vector<spi::delivery> consumer::admitted(const shard_ledger& book) {
    const auto until = book.in_doubt_until();
    std::vector<spi::delivery> made;
    const std::lock_guard lock(mutex_);
    withheld_until_ = until;
    if (std::chrono::steady_clock::now() >= until) {
        withheld_keys_.clear();
        made.swap(withheld_);
        std::ranges::move(arrived_, std::back_inserter(made));
        return made;
    }
    for (auto& item : arrived_) {
        std::string key(item.msg.key().value_or(""));
        const bool waits = withheld_keys_.contains(key) || book.in_doubt(item);
        if (waits) withheld_keys_.insert(std::move(key));
        (waits ? withheld_ : made).push_back(std::move(item));
    }
    return made;
}

void consumer::open_ledger() {
    const auto on = intake_.lock();
    if (!on) return;
    shard_ledger::identity who{plan_.queue, plan_.process, std::max<std::uint64_t>(plan_.prefetch, 10'000)};
    who.calm_at = calm_at_;
    if (plan_.consumer_timeout.count() > 0) who.renewal = std::min(who.renewal, plan_.consumer_timeout / 2);
    std::uint64_t which = 0;
    {
        const std::lock_guard lock(mutex_);
        which = ++ledgers_;
    }
    // Told apart from a later one by its address: the ledger lives until it was told that it is left.
    auto made = std::make_shared<shard_ledger>(on, plan_.publishing, std::move(who),
                                               [weak = weak_from_this(), which](const error& why) {
                                                   if (const auto self = weak.lock()) self->ledger_heard(which, why);
                                               });
    {
        const std::lock_guard lock(mutex_);
        ledger_ = made;
    }
    on->add(std::move(made));
}

void consumer::ledger_heard(std::uint64_t which, const error& why) {
    {
        const std::lock_guard lock(mutex_);
        if (which != ledgers_) return;
        (why ? broken_ : open_) = true;
    }
    flush();
}

}  // namespace shove::rabbitmq_backend
