#include "intake.hpp"

#include <amqp.h>

#include <algorithm>
#include <utility>

#include "refusal.hpp"

namespace shove::rabbitmq_backend {

intake::intake(std::shared_ptr<const rabbitmq::config> settings) : link_(std::move(settings), "consume", *this) {}

intake::~intake() = default;

void intake::add(std::shared_ptr<intake_channel> what) {
    {
        const std::lock_guard lock(mutex_);
        arrived_.push_back(std::move(what));
        ++count_;
    }
    link_.start();
    link_.wake();
}

std::size_t intake::size() const {
    const std::lock_guard lock(mutex_);
    return count_;
}

void intake::take_new() {
    const std::lock_guard lock(mutex_);
    for (auto& what : arrived_)
        members_.push_back({std::move(what), {}});
    arrived_.clear();
}

void intake::connected(connection& on) {
    blocked_ = false;
    take_new();
    for (auto& who : members_)
        attach(on, who);
}

void intake::attach(connection& on, member& who) {
    if (who.what->leaving()) return;
    try {
        who.what->attach(on);
        who.next_try = {};
    } catch (const channel_failed& failed) {
        who.next_try = who.what->refused(failed.cause).value_or(steady_time::max());
    }
}

void intake::frame(connection& on, amqp_frame_t& what) {
    const auto channel = what.channel;
    const auto who = std::ranges::find(members_, channel, [](const member& m) { return m.what->number(); });
    const bool closed = what.frame_type == AMQP_FRAME_METHOD && what.payload.method.id == AMQP_CHANNEL_CLOSE_METHOD;
    if (closed) {
        const auto why = refusal_of(what.payload.method);
        on.channel_gone(channel);
        if (who == members_.end()) return;
        who->what->lost(error(errc::connection_lost, "RabbitMQ closed the channel of a consumer: " + why.text), why.at);
        who->next_try = std::chrono::steady_clock::now();
    } else if (who != members_.end()) {
        if (what.frame_type == AMQP_FRAME_HEADER) ++who->deliveries;
        who->what->frame(on, what);
    } else {
        on.forget_frames(channel);
    }
}

void intake::work(connection& on) {
    note_pace();
    take_new();
    if (blocked_) return;  // whoever asked would wait for an answer that does not come, and give the connection up
    const auto now = std::chrono::steady_clock::now();
    for (auto& who : members_) {
        if (who.what->number() == 0) {
            if (who.next_try <= now) attach(on, who);
        } else if (!who.what->leaving()) {
            work_on(on, who);
        }
    }
    remove(&on);
}

void intake::note_pace() {
    std::size_t all = 0;
    bool near_limit = false;
    for (auto& who : members_) {
        all += who.deliveries;
        const auto limit = who.what->prefetch();
        near_limit = near_limit || (limit > 0 && 2 * who.deliveries >= limit);
        who.deliveries = 0;
    }
    if (all > 0) pace_.read(all, near_limit, std::chrono::steady_clock::now());
}

/// One whose channel goes thereby tries again a little later, and the others are not disturbed.
void intake::work_on(connection& on, member& who) {
    constexpr std::chrono::milliseconds pause{200};
    try {
        who.what->work(on);
    } catch (const channel_failed& failed) {
        who.what->lost(failed.cause, 0);
    }
    if (who.what->number() == 0) who.next_try = std::chrono::steady_clock::now() + pause;
}

/// Lets those go that leave, or could not come.
void intake::remove(connection* on) {
    const auto rest = std::ranges::stable_partition(
        members_, [](const member& who) { return !who.what->leaving() && who.next_try != steady_time::max(); });
    if (rest.empty()) return;
    std::vector<member> gone(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    members_.erase(rest.begin(), rest.end());
    {
        const std::lock_guard lock(mutex_);
        count_ -= gone.size();
    }
    for (auto& who : gone)
        who.what->detach(who.what->number() == 0 ? nullptr : on);
}

std::optional<steady_time> intake::due() const {
    auto earliest = steady_time::max();
    for (const auto& who : members_) {
        earliest = std::min(earliest, who.what->number() == 0 ? who.next_try : who.what->due());
    }
    return earliest == steady_time::max() ? std::nullopt : std::optional(earliest);
}

void intake::lost(const error& why) {
    for (auto& who : members_) {
        if (who.what->number() != 0) who.what->lost(why, 0);
        who.next_try = {};
    }
    remove(nullptr);
}

void intake::waiting(const error& why) {
    take_new();
    for (auto& who : members_)
        who.what->unreachable(why);
    remove(nullptr);
}

void intake::ended() {
    take_new();
    for (auto& who : std::exchange(members_, {}))
        who.what->detach(nullptr);
}

}  // namespace shove::rabbitmq_backend
