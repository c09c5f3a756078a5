#include "schedule_model.hpp"

#include <algorithm>

namespace shove::test {
namespace {

constexpr std::size_t crowded_at = 5;

std::string name_of(std::size_t index) {
    return "message " + std::to_string(index);
}

}  // namespace

schedule_model::schedule_model(std::uint64_t seed) : dice_(seed) {
    policy_.queue = "shard";
    policy_.max_retries = static_cast<std::uint32_t>(dice_.below(4));
    policy_.crash_budget = 1 + static_cast<std::uint32_t>(dice_.below(3));
    if (dice_.one_in(2)) policy_.holds = {milliseconds(10), milliseconds(50)};
    policy_.has_dlq = true;
    fail_all_ = dice_.one_in(2);
    take_over();
}

schedule_report schedule_model::run(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i)
        step();
    calm_ = true;
    for (std::size_t i = 0; !all_settled(); ++i) {
        if (i > 1'000 + 100 * store_.size()) {
            breach("it does not come to an end");
            break;
        }
        tick(milliseconds(100));
        fetch();
        start();
        if (!running_.empty()) end_one();
        settle_one();
    }
    check_end();
    return report_;
}

void schedule_model::step() {
    switch (dice_.below(16)) {
        case 0:
        case 1:
        case 2:
            return publish();
        case 3:
        case 4:
            return fetch();
        case 5:
        case 6:
        case 7:
            return start();
        case 8:
        case 9:
        case 10:
            return running_.empty() ? start() : end_one();
        case 11:
        case 12:
            return settle_one();
        case 13:
            return dice_.one_in(4) ? die() : settle_one();
        case 14:
            return dice_.one_in(4) ? relieve() : fetch();
        default:
            return tick(milliseconds(dice_.below(60)));
    }
}

void schedule_model::publish() {
    record made;
    made.key = std::string(1, static_cast<char>('a' + dice_.below(4)));
    store_.push_back(std::move(made));
    ++report_.sent;
}

spi::delivery schedule_model::delivery_of(std::size_t index) {
    auto& from = store_[index];
    message_parts parts;
    parts.key = from.key;
    spi::delivery made;
    made.msg = message::make(parts);
    made.tag = index + 1;
    made.redelivered = from.out_once;
    made.not_before = from.not_before;
    made.poisoned = poisoned_.contains(from.key);
    if (from.past) made.past = std::make_unique<spi::history>(*from.past);
    from.held = true;
    from.out_once = true;
    return made;
}

/// What the process has not got yet, in the shard's order.
void schedule_model::fetch() {
    auto room = 1 + dice_.below(6);
    for (; next_to_fetch_ < store_.size() && room > 0 && !lanes_->crowded(); ++next_to_fetch_) {
        if (store_[next_to_fetch_].where != place::stored) continue;
        auto item = delivery_of(next_to_fetch_);
        steady_time opens_at{};
        if (item.not_before > wall_) opens_at = now_ + std::chrono::ceil<milliseconds>(item.not_before - wall_);
        lanes_->add(std::move(item), opens_at);
        --room;
    }
}

void schedule_model::start() {
    while (lanes_->startable()) {
        auto next = lanes_->start();
        const auto index = static_cast<std::size_t>(next.item.tag - 1);
        decide::ended refused;
        if (next.item.poisoned) {
            refused.how = decide::ending::poisoned;
            decide_on(next.of, std::move(next.item), refused);
            continue;
        }
        if (next.item.past && next.item.past->crashes >= policy_.crash_budget) {
            refused.how = decide::ending::crashed;
            decide_on(next.of, std::move(next.item), refused);
            continue;
        }
        check_start(index, next.item);
        running_.push_back({next.of, std::move(next.item)});
        return;
    }
}

void schedule_model::end_one() {
    const auto which = static_cast<std::ptrdiff_t>(dice_.below(running_.size()));
    auto one = std::move(running_[static_cast<std::size_t>(which)]);
    running_.erase(running_.begin() + which);
    auto how = random_end();
    store_[one.item.tag - 1].acked = how.how == decide::ending::acked;
    decide_on(one.of, std::move(one.item), std::move(how));
}

decide::ended schedule_model::random_end() {
    decide::ended how;
    switch (dice_.below(calm_ ? 4 : 8)) {
        case 3:
            how.how = decide::ending::retry;
            if (dice_.one_in(2)) how.delay = milliseconds(dice_.below(100));
            break;
        case 4:
            how.how = decide::ending::reject;
            break;
        case 5:
            how.how = decide::ending::defer;
            break;
        case 6:
            how.how = decide::ending::exception;
            break;
        case 7:
            how.how = decide::ending::timed_out;
            how.timeout_kind = outcome_kind::retry;
            break;
        default:
            break;
    }
    return how;
}

/// As the engine does with a sequenced topic's message: a delay keeps it in its lane, anything else is final.
void schedule_model::decide_on(decide::lanes::lane* of, spi::delivery item, decide::ended how) {
    auto& at = store_[item.tag - 1];
    const bool poison = fail_all_ && how.how != decide::ending::poisoned;
    auto verdict = decide::settle(policy_, std::move(item), std::move(how), wall_);
    auto& what = verdict.what;
    if (what.kind == spi::settlement_kind::delay) {
        if (verdict.fate == decide::fate::retried) ++at.ends_in_retry;
        what.kind = spi::settlement_kind::keep;
        spi::delivery again;
        again.msg = what.item.msg;
        again.tag = what.item.tag;
        again.redelivered = true;
        if (what.item.past) again.past = std::make_unique<spi::history>(*what.item.past);
        lanes_->put_back(of, std::move(again));
        outbox_.push_back({std::move(what), of});
        return;
    }
    at.decided = true;
    if (verdict.fate == decide::fate::dead_lettered && poison) {
        lanes_->poison(of);
        what.poison_key = true;
    }
    lanes_->finish(of);
    outbox_.push_back({std::move(what), nullptr});
}

/// The broker has carried out the first of what waits.
void schedule_model::settle_one() {
    if (outbox_.empty()) return;
    auto first = std::move(outbox_.front());
    outbox_.pop_front();
    carry_out(first.what);
    if (first.of) lanes_->reopen(first.of, now_ + first.what.delay);
}

void schedule_model::carry_out(const spi::settlement& what) {
    auto& at = store_[what.item.tag - 1];
    if (what.item.past) at.past = *what.item.past;
    switch (what.kind) {
        case spi::settlement_kind::complete:
            if (at.where != place::stored) breach(name_of(what.item.tag - 1) + " was completed twice");
            at.where = place::gone;
            break;
        case spi::settlement_kind::dead_letter:
            if (at.where != place::stored) breach(name_of(what.item.tag - 1) + " died twice");
            at.where = place::dead;
            ++report_.dead;
            if (what.poison_key) poisoned_.insert(at.key);
            break;
        default:
            at.not_before = wall_ + what.delay;
            break;
    }
}

/// The process dies: some of what waits may still be carried out, the rest is as if it had never been decided.
void schedule_model::die() {
    for (auto some = dice_.below(outbox_.size() + 1); some > 0; --some) {
        carry_out(outbox_.front().what);
        outbox_.pop_front();
    }
    ++report_.crashes;
    for (const auto& lost : outbox_) {
        auto& at = store_[lost.what.item.tag - 1];
        if (at.decided) at.was_decided = true;
        if (lost.of) ++at.lost_ends;
    }
    // It may be the crash of the first that each key had out, and of no other.
    std::set<std::string> keys;
    for (auto& at : store_) {
        if (at.where != place::stored || !at.held || !keys.insert(at.key).second) continue;
        if (!at.past) at.past.emplace();
        ++at.past->crashes;
    }
    take_over();
}

/// An orderly end: what runs is waited for, all is settled, the rest is given back.
void schedule_model::relieve() {
    while (!running_.empty())
        end_one();
    while (!outbox_.empty())
        settle_one();
    take_over();
}

/// Another process has the shard now: it gets everything that is not settled, from the first on.
void schedule_model::take_over() {
    running_.clear();
    outbox_.clear();
    lanes_ = std::make_unique<decide::lanes>(crowded_at);
    next_to_fetch_ = 0;
    for (auto& at : store_) {
        at.held = false;
        at.decided = false;
    }
}

void schedule_model::tick(milliseconds by) {
    now_ += by;
    wall_ += by;
    lanes_->open_due(now_);
}

/// G2: when a message is called, every earlier one of its key is final, and first calls only rise. G6: a second call is
/// told as such.
void schedule_model::check_start(std::size_t index, const spi::delivery& item) {
    auto& at = store_[index];
    ++report_.calls;
    if (at.where != place::stored) breach(name_of(index) + " was called after it was settled");
    for (std::size_t i = 0; i < index; ++i) {
        const auto& before = store_[i];
        if (before.key == at.key && before.where == place::stored && !before.decided)
            breach(name_of(index) + " was called before " + name_of(i) + " of its key was final");
    }
    for (const auto& other : running_) {
        if (store_[other.item.tag - 1].key == at.key) breach(name_of(index) + " was called beside another of its key");
    }
    if (fail_all_ && poisoned_.contains(at.key)) breach(name_of(index) + " was called, and its key is poisoned");
    const bool again = item.redelivered || (item.past && item.past->retries > 0);
    if (at.called && !again) breach(name_of(index) + " was called again without a word");
    if (!at.called) {
        auto& high = highest_called_[at.key];
        if (index + 1 <= high) breach(name_of(index) + " came late: its key was further already");
        high = index + 1;
    }
    if (at.was_decided) ++report_.doubled;
    at.called = true;
    at.was_decided = false;
}

/// G1: nothing is lost. G4: the budget.
void schedule_model::check_end() {
    for (std::size_t i = 0; i < store_.size(); ++i) {
        const auto& at = store_[i];
        if (at.where == place::gone && !at.acked) breach(name_of(i) + " is gone, and was never acknowledged");
        if (at.where == place::stored) breach(name_of(i) + " is left");
        if (at.ends_in_retry > policy_.max_retries + at.lost_ends)
            breach(name_of(i) + " was retried " + std::to_string(at.ends_in_retry) + " times");
        if (at.where == place::dead && at.past && at.past->death_reason == "max_retries_exceeded" &&
            at.past->retries != policy_.max_retries)
            breach(name_of(i) + " died of " + std::to_string(at.past->retries) + " retries");
    }
}

bool schedule_model::all_settled() const {
    return std::ranges::all_of(store_, [](const record& at) { return at.where != place::stored; });
}

}  // namespace shove::test
