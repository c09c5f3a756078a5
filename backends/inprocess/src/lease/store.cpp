#include "store.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace shove::inprocess_backend::lease {

spi::lease_receipts store::publish(std::vector<spi::lease_publish>& messages, const moment& now) {
    std::vector<detail::random_16> ids(messages.size());
    const auto failed = random_.fill_uuids(ids);
    spi::lease_receipts answers;
    answers.reserve(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        answers.push_back(failed ? result<lease_receipt>(failed) : publish_one(messages[i], now, message_id(ids[i])));
    }
    return answers;
}

result<lease_receipt> store::publish_one(spi::lease_publish& what, const moment& now, const message_id& id) {
    auto& message = what.message;
    const auto known = topics_.find(message.topic);
    if (known != topics_.end()) {
        if (const auto* same = known->second.log.by_key(message.idempotency_key)) {
            if (same->content != what.content) return detail::key_taken(message.topic);
            return lease_receipt{same->envelope->id, true, same->envelope->published_at};
        }
    }
    if (retained_ >= limits_.retained_messages) {
        return detail::no_capacity("retained messages", limits_.retained_messages);
    }
    auto& into = known != topics_.end() ? known->second : topics_[message.topic];
    const auto number = into.log.next();
    const auto bytes = message.payload.size();
    auto envelope = std::make_shared<const lease_envelope>(lease_envelope{
        id, name_space_, std::move(message.topic), std::move(message.event_kind), std::move(message.content_type),
        std::move(message.headers), std::move(message.payload), detail::from_ms(now.wall_ms), number});
    lease_receipt receipt{id, false, envelope->published_at};
    into.log.append(std::move(envelope), std::move(message.idempotency_key), what.content);
    ++retained_;
    payload_bytes_ += bytes;
    return receipt;
}

result<lease_subscribed> store::subscribe(const std::string& name, const std::string& group_name,
                                          const lease_start& from) {
    const auto known = topics_.find(name);
    if (known != topics_.end()) {
        const auto there = known->second.groups.find(group_name);
        if (there != known->second.groups.end()) {
            return lease_subscribed{false, there->second.count(known->second.log).pending};
        }
    }
    if (subscriptions_ >= limits_.subscriptions) {
        return detail::no_capacity("message subscriptions", limits_.subscriptions);
    }
    auto& at = topics_[name];
    auto cursor = at.log.next() - 1;
    if (from.what != lease_start::kind::latest) {
        const auto first = from.what == lease_start::kind::earliest ? wall_time::min() : from.from;
        auto each = at.log.following(0);
        while (each < at.log.next() && at.log.find(each)->published_at < first)
            each = at.log.following(each);
        cursor = each - 1;
    }
    const auto made = at.groups.try_emplace(group_name, group_name, cursor, tokens_).first;
    ++subscriptions_;
    return lease_subscribed{true, made->second.count(at.log).pending};
}

result<std::size_t> store::unsubscribe(const std::string& name, const std::string& group_name) {
    const auto leaving = group_of(name, group_name);
    if (!leaving) return leaving.error();
    auto& at = topics_.find(name)->second;
    const auto counts = (*leaving)->count(at.log);
    at.groups.erase(group_name);
    --subscriptions_;
    return static_cast<std::size_t>(counts.pending + counts.leased);
}

namespace {

template <class Group, class Topics>
result<Group*> look_up(Topics& topics, const std::string& name, const std::string& group_name) {
    const auto at = topics.find(name);
    if (at == topics.end()) return detail::no_subscription(name, group_name);
    const auto found = at->second.groups.find(group_name);
    if (found == at->second.groups.end()) return detail::no_subscription(name, group_name);
    return &found->second;
}

}  // namespace

result<group*> store::group_of(const std::string& name, const std::string& group_name) {
    return look_up<group>(topics_, name, group_name);
}

result<const group*> store::find(const std::string& name, const std::string& group_name) const {
    return look_up<const group>(topics_, name, group_name);
}

result<std::vector<leased>> store::receive(const lease_request& what, const moment& now) {
    const auto who = group_of(what.topic, what.group);
    if (!who) return who.error();
    if (const auto ends = detail::later_ms(now.wall_ms, what.lease); !ends) return ends.error();
    auto& at = **who;
    const auto& log = topics_.find(what.topic)->second.log;
    at.sweep(now, limits_);
    at.wake(now, limits_);
    std::vector<leased> taken;
    std::vector<detail::random_16> tokens(at.available(log, what.max));
    if (auto failed = random_.fill(tokens)) return failed;
    taken.reserve(tokens.size());
    for (const auto& token : tokens)
        taken.push_back(at.take(log, what, lease_token(token), now));
    return taken;
}

result<lease_settled> store::settle(const lease_settlement& how, const moment& now) {
    const auto held = tokens_.find(how.token);
    if (held == tokens_.end()) return detail::lease_unknown();
    const auto where = held->second;  // the entry may go
    return where.who->settle(where.number, how, now, limits_);
}

result<lease_dead_page> store::dead_letters(const lease_dead_query& what) const {
    const auto who = find(what.topic, what.group);
    if (!who) return who.error();
    const auto& log = topics_.find(what.topic)->second.log;
    const auto& all = (*who)->dead_letters();
    lease_dead_page page;
    auto each = all.upper_bound(what.after);
    for (; each != all.end() && page.letters.size() < what.limit; ++each) {
        const auto& letter = each->second;
        page.letters.push_back({log.find(each->first), what.group, letter.consumer, letter.attempts, letter.code,
                                detail::from_ms(letter.at_ms)});
    }
    if (each != all.end()) page.next = page.letters.back().envelope->sequence;
    return page;
}

result<std::size_t> store::redrive(const lease_redrive& what, const moment& now) {
    const auto who = group_of(what.topic, what.group);
    if (!who) return who.error();
    auto which = what.sequences;
    if (which.empty()) {
        for (const auto& [number, letter] : (*who)->dead_letters()) {
            if (which.size() == what.limit) break;
            which.push_back(number);
        }
    }
    std::size_t sent = 0;
    for (const auto number : which)
        sent += (*who)->redrive(number, now.wall_ms) ? 1 : 0;
    return sent;
}

bool store::finished(const topic& of, sequence number) const {
    return std::ranges::all_of(of.groups, [&](const auto& each) { return each.second.finished(number); });
}

void store::remove(topic& of, sequence number) {
    for (auto& [name, each] : of.groups)
        each.forget(number);
    payload_bytes_ -= of.log.remove(number);
    --retained_;
}

std::size_t store::purge(const std::string& name, std::size_t limit) {
    const auto at = topics_.find(name);
    if (at == topics_.end() || at->second.groups.empty()) return 0;
    auto& of = at->second;
    std::size_t gone = 0;
    sequence last = std::numeric_limits<sequence>::max();  // beyond it some group has not started
    for (const auto& [group_name, each] : of.groups)
        last = std::min(last, each.cursor());
    for (auto number = of.log.following(0); gone < limit && number <= last && number < of.log.next();) {
        const auto next = of.log.following(number);
        if (finished(of, number)) {
            remove(of, number);
            ++gone;
        }
        number = next;
    }
    return gone;
}

std::size_t store::retire(const lease_retention& by, const moment& now, std::size_t most) {
    const auto horizon = by.age ? detail::from_ms(now.wall_ms) - *by.age : wall_time::min();
    std::size_t gone = 0;
    for (auto& [name, of] : topics_) {
        for (auto number = of.log.following(0); gone < most && number < of.log.next();) {
            const bool old = of.log.find(number)->published_at <= horizon;
            const bool heavy = by.payload_bytes && payload_bytes_ > *by.payload_bytes;
            if (!old && !heavy) break;
            const auto next = of.log.following(number);
            const bool dead = std::ranges::any_of(of.groups, [&](const auto& g) { return g.second.is_dead(number); });
            if (!dead && finished(of, number)) {
                remove(of, number);
                ++gone;
            }
            number = next;
        }
    }
    return gone;
}

lease_stats store::count() const {
    lease_stats made{limits_, retained_, payload_bytes_, subscriptions_, {}};
    for (const auto& [name, of] : topics_) {
        lease_topic_stats& one = made.topics.emplace_back();
        one.topic = name;
        one.retained = of.log.retained();
        one.next_sequence = of.log.next();
        if (one.retained > 0) one.oldest = of.log.find(of.log.following(0))->published_at;
        for (const auto& [group_name, each] : of.groups)
            one.groups.push_back(each.count(of.log));
    }
    return made;
}

}  // namespace shove::inprocess_backend::lease
