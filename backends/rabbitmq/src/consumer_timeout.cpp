#include "consumer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

// The server closes a channel on which a delivery is unsettled for longer than its `consumer_timeout`. The consumer
// gives what it has back before that, and subscribes anew.
//
// What comes back of a plain queue while its call still runs is settled by that: see `lost_and_found`. A shard is not
// given up: nobody else may begin with it while its ledger is held, and where all that was in hand comes back, it is
// only known under other numbers from then on.

namespace shove::rabbitmq_backend {
namespace {

/// What was given back comes again at once, unless another consumer of the shard gets it.
constexpr std::chrono::seconds return_time{1};
constexpr std::chrono::milliseconds look_again{100};

}  // namespace

void consumer::heed_timeout(connection& on) {
    const auto patience = plan_.consumer_timeout;
    if (patience.count() == 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (!awaited_.empty()) {
        if (now < due_) return;
        on.close_channel(channel_);
        return lost(error(errc::lease_lost, timeout_near().message()), 0);
    }
    times_.note(window_.next(), now, patience / 100);
    const auto since = times_.of(window_.oldest_open());
    due_ = since ? *since + patience * 4 / 5 : steady_time::max();
    if (!giving_way_ && now < due_) return;
    if (transaction_.under_way()) {
        due_ = now + look_again;
        return;
    }
    if (plan_.shard) return change_channel(on);
    if (!giving_way_) give_way(on);
    due_ = now + look_again;
    {
        const std::lock_guard lock(mutex_);
        if (consuming_ || giving_back_ > 0 || !ops_.empty() || on.has_input()) return;
    }
    on.close_channel(channel_);
    lost(timeout_near(), 0);
}

/// What nobody has begun goes back; what becomes of the rest is said when the channel is closed.
void consumer::give_way(connection& on) {
    giving_way_ = true;
    follow_demand(on);
}

error consumer::timeout_near() const {
    const auto limit = std::to_string(std::chrono::ceil<std::chrono::seconds>(plan_.consumer_timeout).count());
    return {
        errc::timed_out,
        "a message was in hand for nearly the consumer_timeout of " + limit +
            " s, at which RabbitMQ closes the channel: what was in hand was given back, and is asked for again. Set "
            "it above the longest call and wait, at the server and here"};
}

void consumer::change_channel(connection& on) {
    on.close_channel(channel_);
    {
        const std::lock_guard lock(mutex_);
        if (open_) {
            for (const auto& item : ready_)
                awaited_[item.tag] = record_id(item.msg);
            for (const auto& item : withheld_)
                awaited_[item.tag] = record_id(item.msg);
            for (const auto& [tag, msg] : handed_)
                awaited_[tag] = record_id(msg);
            for (const auto& what : ops_)
                awaited_[what.tag] = record_id(what.msg);
        }
    }
    if (awaited_.empty()) return lost(timeout_near(), 0);
    moved_.clear();
    attach(on);
    due_ = std::chrono::steady_clock::now() + return_time;
    tell(timeout_near());
}

void consumer::returned(const spi::delivery& item) {
    const auto id = record_id(item.msg);
    const auto at = std::ranges::find(awaited_, id, [](const auto& one) -> const std::string& { return one.second; });
    if (at == awaited_.end()) {
        due_ = {};  // something else comes first: it is not as it was
        return;
    }
    moved_[at->first] = number_;
    awaited_.erase(at);
}

/// Has the engine told, by the next receive.
void consumer::tell(const error& why) {
    receive_done waiting;
    {
        const std::lock_guard lock(mutex_);
        waiting = std::exchange(receiving_, nullptr);
        if (!waiting) failure_ = why;
    }
    if (waiting) waiting(why);
}

std::vector<departure> consumer::take_ops() {
    std::vector<departure> ops;
    ops.swap(ops_);
    if (awaited_.empty()) return ops;
    const auto later = std::ranges::stable_partition(ops, [this](const auto& one) { return number_now(one.tag) != 0; });
    ops_.assign(std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
    ops.erase(later.begin(), later.end());
    return ops;
}

std::uint64_t consumer::number_now(std::uint64_t tag) const {
    if (tag >> 40U == epoch_) return number_of(tag);
    const auto at = moved_.find(tag);
    return at == moved_.end() ? 0 : at->second;
}

}  // namespace shove::rabbitmq_backend
