#include "admin.hpp"

#include <algorithm>
#include <future>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "crash_notes.hpp"
#include "layout.hpp"
#include "poison_records.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// What was looked at is held for so long after its last use.
constexpr std::chrono::milliseconds idle{500};
/// So long it is believed what kind of queue has a name.
constexpr std::chrono::seconds believed{60};
constexpr std::size_t most_books = 16;

error forgotten(const std::string& queue, std::uint64_t cursor) {
    return {errc::invalid_argument, "queue '" + queue + "': it is not known any more which message has cursor " +
                                        std::to_string(cursor) + "; begin at the first one again (0)"};
}

}  // namespace

admin::admin(parts with) : with_(std::move(with)), over_(with_.settings, "admin") {}

admin::~admin() = default;

// --- what a queue is ------------------------------------------------------------------------------------

void admin::look_up(const std::string& queue, unique_function<void(const error&)> then) {
    std::optional<error> known;
    {
        const std::lock_guard lock(mutex_);
        const auto at = queues_.find(queue);
        if (at != queues_.end() && at->second.until > std::chrono::steady_clock::now()) known = at->second.refusal;
    }
    if (known) return then(*known);
    auto shared = std::make_shared<unique_function<void(const error&)>>(std::move(then));
    with_.desk->ask([this, queue, shared](management& api) { learn(queue, api.queue(queue), *shared); },
                    [shared](const error& why) { (*shared)(why); });
}

void admin::learn(const std::string& queue, const result<queue_stats>& told,
                  unique_function<void(const error&)>& then) {
    if (!told) return then(told.error());
    error refusal;
    if (is_single_active(*told)) {
        refusal = error(errc::unsupported, "queue '" + queue +
                                               "' is a shard: RabbitMQ shows its messages to the consumer that has it, "
                                               "and to nobody else");
    } else if (told->type == "stream") {
        refusal = error(errc::unsupported, "queue '" + queue + "' is a stream: its messages cannot be taken out");
    }
    {
        const auto now = std::chrono::steady_clock::now();
        const std::lock_guard lock(mutex_);
        std::erase_if(queues_, [&](const auto& each) { return each.second.until < now; });
        queues_[queue] = {refusal, now + believed};
    }
    then(refusal);
}

bool admin::is_dead_letter_queue(const std::string& queue) const {
    const auto topology = with_.known->find(queue);
    return topology ? topology->dead_letter_queue == queue : queue.ends_with("-dlq");
}

// --- what is held ---------------------------------------------------------------------------------------

viewing* admin::current(const std::string& queue) {
    return viewing_ && viewing_->alive() && viewing_->queue() == queue ? viewing_.get() : nullptr;
}

viewing& admin::open(ask_channel& over, const std::string& queue) {
    close_viewing();
    viewing_ = std::make_unique<viewing>(over, queue, is_dead_letter_queue(queue));
    const std::lock_guard lock(mutex_);
    held_ = queue;
    return *viewing_;
}

void admin::close_viewing() {
    const auto last = std::exchange(viewing_, nullptr);
    {
        const std::lock_guard lock(mutex_);
        held_.clear();
    }
    if (!last || !last->alive()) return;
    say_looked_at(*last);
    try {
        last->give_back();
    } catch (const channel_failed&) {  // then the server has given everything back
    }
}

/// The broker says of a message that was looked at that it was delivered before. Consumers are to know that nobody had
/// begun it. Where that cannot be written down, they handle it alone once, to be safe.
void admin::say_looked_at(const viewing& what) {
    constexpr std::chrono::seconds patience{2};
    if (what.seen().empty()) return;
    const auto written = std::make_shared<std::promise<void>>();
    const auto notes = std::make_shared<crash_notes>(nullptr, with_.publishing, what.queue());
    auto waiting = written->get_future();
    notes->give_back({.innocent = what.seen()}, patience, [written] { written->set_value(); });
    waiting.wait_for(patience);
}

void admin::idle_later() {
    last_use_ = std::chrono::steady_clock::now();
    if (std::exchange(idle_posted_, true)) return;
    control_job job;
    job.not_before = last_use_ + idle;
    job.run = [this](ask_channel&) {
        idle_posted_ = false;
        bool pinned = false;
        {
            const std::lock_guard lock(mutex_);
            pinned = pins_ > 0;
        }
        if (!viewing_) return;
        if (!pinned && last_use_ + idle <= std::chrono::steady_clock::now()) return close_viewing();
        const auto last = last_use_;
        idle_later();
        if (!pinned) last_use_ = last;
    };
    job.fail = [this](const error&) { idle_posted_ = false; };
    over_.post(std::move(job));
}

void admin::give_back(const std::string& queue, unique_function<void()> then) {
    bool mine = false;
    {
        const std::lock_guard lock(mutex_);
        mine = !held_.empty() && held_ == queue;
    }
    if (!mine) return then();
    auto shared = std::make_shared<unique_function<void()>>(std::move(then));
    control_job job;
    job.deadline = std::chrono::steady_clock::now();  // without a connection nothing is held
    job.run = [this, queue, shared](ask_channel&) {
        if (current(queue)) close_viewing();
        (*shared)();
    };
    job.fail = [shared](const error&) { (*shared)(); };
    over_.post(std::move(job));
}

void admin::shut() {
    bool used = false;
    {
        const std::lock_guard lock(mutex_);
        used = used_;
    }
    if (!used) return over_.shut();
    control_job job;
    job.deadline = std::chrono::steady_clock::now();
    job.run = [this](ask_channel&) {
        close_viewing();
        over_.shut();
    };
    job.fail = [this](const error&) { over_.shut(); };
    over_.post(std::move(job));
}

cursor_book& admin::book(const std::string& queue) {
    auto at = books_.find(queue);
    if (at == books_.end()) {
        if (books_.size() == most_books) {
            const auto oldest = std::ranges::min_element(books_, {}, [](const auto& each) { return each.second.used; });
            first_cursor_ = std::max(first_cursor_, oldest->second.pages.next());
            books_.erase(oldest);
        }
        at = books_.emplace(queue, known_book{cursor_book(first_cursor_), 0}).first;
    }
    at->second.used = ++uses_;
    return at->second.pages;
}

// --- browse, remove, move -------------------------------------------------------------------------------

void admin::browse(std::string queue, std::uint64_t after, std::size_t max,
                   spi::callback<void(result<std::vector<spi::browsed>>)> done) {
    auto shared = std::make_shared<answer<std::vector<spi::browsed>>>(std::move(done));
    auto look = [this, queue, after, max](ask_channel& over) { return page(over, queue, after, max); };
    look_up(queue, [this, shared, look = std::move(look)](const error& why) mutable {
        if (why) return (*shared)(why);
        post<std::vector<spi::browsed>>(std::move(*shared), std::move(look));
    });
}

std::vector<spi::browsed> admin::page(ask_channel& over, const std::string& queue, std::uint64_t after,
                                      std::size_t max) {
    auto& pages = book(queue);
    auto* at = current(queue);
    if (!at || after == 0 || !at->stands_at(after)) {
        auto from = after == 0 ? cursor_book::progress{pages.begin(), {}} : pages.up_to(after);
        if (!from) throw channel_failed{forgotten(queue, after), 0};
        at = &open(over, queue);
        at->resume(std::move(*from));
    }
    auto shown = at->page(max, pages);
    if (shown.empty()) {
        close_viewing();
    } else {
        idle_later();
    }
    return shown;
}

std::vector<std::uint64_t> admin::hold(ask_channel& over, const std::string& queue,
                                       std::vector<std::uint64_t> cursors) {
    const auto& pages = book(queue);
    std::ranges::sort(cursors);
    cursors.erase(std::unique(cursors.begin(), cursors.end()), cursors.end());
    std::erase_if(cursors, [&](auto cursor) { return !pages.find(cursor); });
    likenesses wanted;
    for (const auto cursor : cursors)
        ++wanted[*pages.find(cursor)];
    if (wanted.empty()) return {};
    auto* at = current(queue);
    const auto lacks = [&](const auto& each) { return at->held(each.first) < each.second; };
    if (!at || std::ranges::any_of(wanted, lacks)) at = &open(over, queue);
    at->reach(wanted);
    idle_later();
    std::erase_if(cursors, [&, used = likenesses()](auto cursor) mutable {
        const auto what = *pages.find(cursor);
        return ++used[what] > at->held(what);
    });
    return cursors;
}

std::size_t admin::take_out(ask_channel& over, const std::string& queue, const std::vector<std::uint64_t>& cursors) {
    const auto there = hold(over, queue, cursors);
    if (there.empty()) return 0;
    auto& pages = book(queue);
    for (const auto cursor : there) {
        viewing_->remove(*pages.find(cursor));
        pages.forget(cursor);
    }
    viewing_->flush();
    return there.size();
}

void admin::remove(std::string queue, std::vector<std::uint64_t> cursors,
                   spi::callback<void(result<std::size_t>)> done) {
    auto shared = std::make_shared<answer<std::size_t>>(std::move(done));
    auto take = [this, queue, cursors = std::move(cursors)](ask_channel& over) {
        return take_out(over, queue, cursors);
    };
    look_up(queue, [this, shared, take = std::move(take)](const error& why) mutable {
        if (why) return (*shared)(why);
        post<std::size_t>(std::move(*shared), std::move(take));
    });
}

/// Messages on their way from one queue to another.
struct admin::relocation {
    std::string from;
    std::string to;
    std::vector<spi::moved> items;
    std::vector<std::uint64_t> there;  ///< The cursors of those that have an original.
    answer<std::size_t> done;
    error cause;  ///< Of the first copy that was not stored.
};

void admin::move(std::string from, std::string to, std::vector<spi::moved> items,
                 spi::callback<void(result<std::size_t>)> done) {
    auto what = std::make_shared<relocation>(
        relocation{std::move(from), std::move(to), std::move(items), {}, std::move(done), {}});
    auto find = [this, what](ask_channel& over) {
        std::vector<std::uint64_t> cursors;
        for (const auto& item : what->items)
            cursors.push_back(item.cursor);
        {
            const std::lock_guard lock(mutex_);
            ++pins_;
        }
        try {
            return hold(over, what->from, std::move(cursors));
        } catch (...) {
            unpin();
            throw;
        }
    };
    look_up(what->from, [this, what, find = std::move(find)](const error& why) mutable {
        if (why) return what->done(why);
        auto found = [this, what](result<std::vector<std::uint64_t>> there) {
            if (!there) return what->done(there.error());
            what->there = std::move(*there);
            ship(what);
        };
        post<std::vector<std::uint64_t>>(std::move(found), std::move(find));
    });
}

void admin::ship(std::shared_ptr<relocation> what) {
    const auto way = std::make_shared<const route>(route{.exchange = {}, .routing_key = what->to});
    std::unordered_set<std::uint64_t> there(what->there.begin(), what->there.end());
    shipment made;
    made.deadline = std::chrono::steady_clock::now() + connection_patience;
    what->there.clear();
    for (auto& item : what->items) {
        if (there.erase(item.cursor) == 0) continue;
        what->there.push_back(item.cursor);
        made.parcels.push_back({.msg = std::move(item.copy), .to = way});
    }
    made.done = [this, what](std::vector<spi::publish_result> results) { shipped(what, results); };
    with_.publishing->post(std::move(made));
}

/// Copies are confirmed: their originals may go. If they cannot (the connection is gone) they are in both places.
void admin::shipped(std::shared_ptr<relocation> what, const std::vector<spi::publish_result>& results) {
    std::vector<std::uint64_t> stored;
    for (std::size_t i = 0; i < what->there.size(); ++i) {
        if (results.empty() || results[i].status == spi::publish_status::ok) {
            stored.push_back(what->there[i]);
        } else if (!what->cause) {
            what->cause = results[i].cause;
        }
    }
    if (what->cause == errc::unroutable) {
        what->cause = error(errc::unknown_queue,
                            "queue '" + what->to + "' is not on this RabbitMQ virtual host; declare its topic first");
    }
    auto done = [this, what, count = stored.size()](result<std::size_t> removed) {
        unpin();
        if (!removed) return what->done(removed.error());
        if (count == 0 && what->cause) return what->done(what->cause);
        what->done(count);
    };
    auto take = [this, what, stored = std::move(stored)](ask_channel& over) {
        return stored.empty() ? 0 : take_out(over, what->from, stored);
    };
    post<std::size_t>(std::move(done), std::move(take));
}

void admin::unpin() {
    const std::lock_guard lock(mutex_);
    --pins_;
}

// --- keys -----------------------------------------------------------------------------------------------

void admin::list_keys(std::vector<std::string> queues,
                      spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) {
    post<std::vector<spi::poisoned_key>>(std::move(done), [queues = std::move(queues)](ask_channel& over) {
        std::vector<spi::poisoned_key> all;
        for (const auto& shard : queues)
            poisoned_keys(over, shard, all);
        return all;
    });
}

/// Which shard a key is in may be the broker's decision (`x-consistent-hash`), and no caller knows it: it is looked for
/// in all of the topology's.
void admin::release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) {
    auto shared = std::make_shared<answer<std::size_t>>(std::move(done));
    shards_of(queue, [this, key, shared](std::vector<std::string> shards) {
        auto found = [this, key, shared](result<std::string> shard) {
            if (!shard) return (*shared)(shard.error());
            if (shard->empty()) return (*shared)(std::size_t{0});
            release_in(*shard, key, std::move(*shared));
        };
        post<std::string>(std::move(found), [shards = std::move(shards), key](ask_channel& over) {
            for (const auto& shard : shards) {
                std::vector<spi::poisoned_key> keys;
                poisoned_keys(over, shard, keys);
                if (std::ranges::find(keys, key, &spi::poisoned_key::key) != keys.end()) return shard;
            }
            return std::string();
        });
    });
}

void admin::shards_of(const std::string& queue, unique_function<void(std::vector<std::string>)> then) {
    const auto topology = with_.known->find(queue);
    if (topology && topology->sequencing) return then(topology->sequencing->reader_queues);
    auto shared = std::make_shared<decltype(then)>(std::move(then));
    with_.queues->recent([queue, shared](const queue_list& all) {
        (*shared)(all ? shards_like(*all, queue) : std::vector<std::string>{queue});
    });
}

/// The owner is told before the key leaves the list: if this ends in between, the key can be released once more.
void admin::release_in(const std::string& shard, const std::string& key, answer<std::size_t> done) {
    auto shared = std::make_shared<answer<std::size_t>>(std::move(done));
    shipment made;
    made.deadline = std::chrono::steady_clock::now() + connection_patience;
    made.parcels.push_back(release_record(shard, key));
    made.done = [this, shard, key, shared](const std::vector<spi::publish_result>& results) {
        if (!results.empty() && results.front().status != spi::publish_status::ok)
            return (*shared)(results.front().cause);
        post<std::size_t>(std::move(*shared), [shard, key](ask_channel& over) {
            const auto count = strike_key(over, shard, key);
            await_owner(over, shard);
            return count;
        });
    };
    with_.publishing->post(std::move(made));
}

}  // namespace shove::rabbitmq_backend
