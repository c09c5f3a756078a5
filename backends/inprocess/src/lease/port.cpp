#include "port.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove::inprocess_backend::lease {

namespace {

/// Messages that go in one step of retention, so that nobody waits long for the lock.
constexpr std::size_t retired_at_once = 256;

}  // namespace

port::port(const lease_options& options, std::shared_ptr<clock> time)
    : time_(std::move(time)), retention_(options.retention), store_(options) {}

port::~port() {
    close();
}

result<moment> port::now() const {
    const auto wall = detail::wall_ms(*time_);
    if (!wall) return wall.error();
    return moment{*wall, time_->now()};
}

/// Makes a change under the lock, serves who waits for what it made available, and answers without the lock.
template <class T, class Change>
void port::change(answer<T> done, Change make) {
    std::unique_lock lock(lock_);
    if (closed_) {
        lock.unlock();
        return done(detail::broker_closed());
    }
    result<T> made = make();
    auto served = waiting_.empty() ? answers() : serve();
    lock.unlock();
    tell(std::move(served));
    done(std::move(made));
}

template <class T, class Change>
result<T> port::timed(Change make) {
    const auto at = now();
    if (!at) return at.error();
    return make(*at);
}

void port::publish(std::vector<spi::lease_publish> messages, answer<spi::lease_receipts> done) {
    change(std::move(done), [&] {
        return timed<spi::lease_receipts>(
            [&](const moment& at) -> result<spi::lease_receipts> { return store_.publish(messages, at); });
    });
}

void port::subscribe(std::string topic, std::string group, lease_start from, answer<lease_subscribed> done) {
    change(std::move(done), [&] { return store_.subscribe(topic, group, from); });
}

void port::unsubscribe(std::string topic, std::string group, answer<std::size_t> done) {
    change(std::move(done), [&] { return store_.unsubscribe(topic, group); });
}

void port::settle(std::vector<lease_settlement> what, answer<spi::lease_outcomes> done) {
    change(std::move(done), [&] {
        return timed<spi::lease_outcomes>([&](const moment& at) -> result<spi::lease_outcomes> {
            spi::lease_outcomes outcomes;
            outcomes.reserve(what.size());
            for (const auto& each : what)
                outcomes.push_back(store_.settle(each, at));
            return outcomes;
        });
    });
}

void port::dead_letters(lease_dead_query what, answer<lease_dead_page> done) {
    change(std::move(done), [&] { return store_.dead_letters(what); });
}

void port::redrive(lease_redrive what, answer<std::size_t> done) {
    change(std::move(done),
           [&] { return timed<std::size_t>([&](const moment& at) { return store_.redrive(what, at); }); });
}

void port::purge(std::string topic, std::size_t limit, answer<std::size_t> done) {
    change(std::move(done), [&]() -> result<std::size_t> { return store_.purge(topic, limit); });
}

void port::stats(answer<lease_stats> done) {
    change(std::move(done), [&]() -> result<lease_stats> { return store_.count(); });
}

void port::receive(lease_request what, answer<std::vector<leased>> done) {
    std::unique_lock lock(lock_);
    if (closed_) {
        lock.unlock();
        return done(detail::broker_closed());
    }
    const auto at = now();
    result<std::vector<leased>> taken = at ? store_.receive(what, *at) : at.error();
    if (taken && taken->empty() && what.wait > milliseconds(0)) {
        const auto until = at->steady + what.wait;
        waiting_.push_back({std::move(what), until, std::move(done)});
        return arm(*at);
    }
    lock.unlock();
    done(std::move(taken));
}

bool port::ends_now(waiter& who, const moment& at, answers& into) {
    auto taken = store_.receive(who.what, at);
    if (taken && taken->empty() && who.until > at.steady) return false;
    into.push_back({std::move(who.done), std::move(taken)});
    return true;
}

port::answers port::serve() {
    answers ended;
    const auto at = now();
    for (auto each = waiting_.begin(); each != waiting_.end();) {
        if (!at) {
            ended.push_back({std::move(each->done), at.error()});
            each = waiting_.erase(each);
        } else {
            each = ends_now(*each, *at, ended) ? waiting_.erase(each) : std::next(each);
        }
    }
    if (at) arm(*at);
    return ended;
}

void port::arm(const moment& at) {
    std::optional<steady_time> next;
    for (const auto& each : waiting_) {
        auto when = each.until;
        const auto who = store_.find(each.what.topic, each.what.group);
        if (const auto change = who ? (*who)->next_change(at) : std::nullopt) when = std::min(when, *change);
        next = next ? std::min(*next, when) : when;
    }
    if (timer_ != 0 && next && *next == rings_at_) return;
    if (timer_ != 0) time_->cancel(timer_);
    timer_ = 0;
    if (!next) return;
    rings_at_ = *next;
    timer_ = time_->call_at(*next, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->rung();
    });
}

void port::rung() {
    std::unique_lock lock(lock_);
    timer_ = 0;
    if (closed_) return;
    auto served = serve();
    lock.unlock();
    tell(std::move(served));
}

void port::tell(answers all) {
    for (auto& each : all)
        each.done(std::move(each.with));
}

void port::start_retention() {
    if (!retention_.enabled()) return;
    const std::lock_guard lock(lock_);
    retiring_ = time_->call_at(time_->now() + retention_.every, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->retire();
    });
}

void port::retire() {
    {
        const std::lock_guard lock(lock_);
        retiring_ = 0;
        if (closed_) return;
        const auto at = now();
        const bool more = at && store_.retire(retention_, *at, retired_at_once) == retired_at_once;
        retiring_ =
            time_->call_at(time_->now() + (more ? milliseconds(0) : retention_.every), [weak = weak_from_this()] {
                if (const auto self = weak.lock()) self->retire();
            });
    }
}

void port::close() {
    std::unique_lock lock(lock_);
    closed_ = true;
    if (timer_ != 0) time_->cancel(std::exchange(timer_, 0));
    if (retiring_ != 0) time_->cancel(std::exchange(retiring_, 0));
    answers ended;
    for (auto& each : waiting_)
        ended.push_back({std::move(each.done), detail::broker_closed()});
    waiting_.clear();
    lock.unlock();
    tell(std::move(ended));
}

}  // namespace shove::inprocess_backend::lease
