#include "admin.hpp"

#include <iterator>
#include <unordered_map>

namespace shove::in_memory {
namespace {

using counted = result<std::size_t>;

/// Originals that are held while their copies are stored.
struct exchange {
    std::shared_ptr<core> alive;
    queue* from;
    held originals;
};

/// Copies in the order of the originals that were still there.
store_batch copies_for(const held& originals, std::vector<spi::moved>& items) {
    std::unordered_map<std::uint64_t, message*> copies;
    for (auto& item : items)
        copies.emplace(item.cursor, &item.copy);
    store_batch batch;
    batch.messages.reserve(originals.size());
    for (const auto& [where, item] : originals) {
        batch.messages.push_back({std::move(*copies.at(where.position)), milliseconds(0)});
    }
    return batch;
}

/// Lets the originals of stored copies go, and puts the others back.
void finish(exchange what, std::size_t stored) {
    const auto middle = what.originals.begin() + static_cast<std::ptrdiff_t>(stored);
    held kept(std::make_move_iterator(middle), std::make_move_iterator(what.originals.end()));
    what.originals.erase(middle, what.originals.end());
    if (!kept.empty()) what.from->give_back(std::move(kept));
    if (!what.originals.empty()) what.from->finish(std::move(what.originals));
}

}  // namespace

void admin::list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) {
    if (core_.closed()) return done(closed_error());
    done(core_.list());
}

void admin::browse(std::string queue, std::uint64_t after, std::size_t max,
                   spi::callback<void(result<std::vector<spi::browsed>>)> done) {
    auto* found = core_.find(queue);
    if (core_.closed() || !found) return done(core_.missing(queue));
    std::vector<spi::browsed> page;
    found->browse(after, max, page);
    done(std::move(page));
}

void admin::move(std::string from, std::string to, std::vector<spi::moved> items, spi::callback<void(counted)> done) {
    auto* source = core_.find(from);
    auto* target = core_.find(to);
    if (core_.closed() || !source || !target) return done(core_.missing(source ? to : from));
    std::vector<std::uint64_t> cursors;
    cursors.reserve(items.size());
    for (const auto& item : items)
        cursors.push_back(item.cursor);
    exchange what{core_.shared_from_this(), source, source->take(cursors)};
    auto copies = copies_for(what.originals, items);
    target->store(std::move(copies), core_.time().now() + move_patience,
                  [what = std::move(what), target, done = std::move(done)](errc cause, store_batch rest) mutable {
                      counted answer = rest.stored;
                      if (rest.stored == 0 && cause != errc::ok) answer = target->explain(cause);
                      finish(std::move(what), rest.stored);
                      done(std::move(answer));
                  });
}

void admin::remove(std::string queue, std::vector<std::uint64_t> cursors, spi::callback<void(counted)> done) {
    auto* found = core_.find(queue);
    if (core_.closed() || !found) return done(core_.missing(queue));
    auto taken = found->take(cursors);
    const std::size_t count = taken.size();
    found->finish(std::move(taken));
    done(count);
}

void admin::list_keys(std::vector<std::string> queues,
                      spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) {
    std::vector<spi::poisoned_key> found;
    for (const auto& name : queues) {
        auto* at = core_.find(name);
        if (core_.closed() || !at) return done(core_.missing(name));
        at->list_poisoned(found);
    }
    done(std::move(found));
}

void admin::release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) {
    auto* at = core_.find(queue);
    if (core_.closed() || !at) return done(core_.missing(queue));
    done(std::size_t{at->unpoison(key) ? 1U : 0U});
}

}  // namespace shove::in_memory
