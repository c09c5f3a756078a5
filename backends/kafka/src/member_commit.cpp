#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "member.hpp"

// What is settled is committed: now and then, soon where nothing is left to do, at once for what must be durable before
// something else happens.

namespace shove::kafka_backend {

namespace {

/// Where all is settled there is nothing to gather.
constexpr milliseconds idle_wait{10};
/// No answer for so long is one: what is asked in a rebalance may vanish.
constexpr std::chrono::seconds answer_patience{10};
constexpr milliseconds first_pause{50};
constexpr milliseconds longest_pause{1'000};

}  // namespace

void member::settled_some() {
    if (plan_.groupless) return;
    bool any_left = false;
    bool many = false;
    for (const auto& [where, each] : holdings_) {
        any_left = any_left || each->core.handed_out() > 0;
        many = many || each->core.settled_since_commit() >= parts_.commit_count;
    }
    if (many) return commit_now();
    commit_soon(any_left ? parts_.commit_interval : std::min(idle_wait, parts_.commit_interval));
}

void member::commit_soon(milliseconds in) {
    if (closed_) return;
    const auto due = std::chrono::steady_clock::now() + in;
    if (commit_timer_ && commit_due_ <= due) return;
    if (commit_timer_) parts_.on->cancel(*commit_timer_);
    commit_due_ = due;
    commit_timer_ = parts_.on->at(due, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->commit_timer_.reset();
        self->commit_now();
    });
}

void member::commit_now() {
    if (plan_.groupless || closed_) return;
    if (committing_ && std::chrono::steady_clock::now() - commit_started_ < answer_patience) {
        commit_again_ = true;
        return;
    }
    start_commit();
}

void member::start_commit() {
    commit_again_ = false;
    in_commit_.clear();
    const auto list = make_partitions(holdings_.size());
    for (const auto& [where, each] : holdings_) {
        const bool last = leaving_ || (each->now == stage::revoking && revoke_committing_);
        if (!each->core.dirty() && !last) continue;
        auto what = each->core.to_commit(last);
        if (!what) {  // nothing was ever received of it: there is nothing to say
            each->core.committed({0, {}, each->core.revision(), 0, last});
            each->said_goodbye = each->said_goodbye || last;
            continue;
        }
        auto* row = rd_kafka_topic_partition_list_add(list.get(), where.first.c_str(), where.second);
        row->offset = what->offset;
        // The library frees it, and looks for its end.
        row->metadata = std::malloc(what->note.size() + 1);
        row->metadata_size = what->note.size();
        std::memcpy(row->metadata, what->note.c_str(), what->note.size() + 1);
        in_commit_.emplace_back(each, std::move(*what));
    }
    if (list->cnt == 0) return;
    committing_ = true;
    commit_started_ = std::chrono::steady_clock::now();
    // An answer that comes after it was given up must not be taken for that of a later one.
    auto* number = std::bit_cast<void*>(++commit_number_);
    const auto refused = rd_kafka_commit_queue(client_->get(), list.get(), answers_.get(), nullptr, number);
    if (refused == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    committing_ = false;
    commit_failed();
}

void member::commit_answered(const rd_kafka_event_t* event) {
    auto* given = const_cast<rd_kafka_event_t*>(event);
    if (rd_kafka_event_opaque(given) != std::bit_cast<void*>(commit_number_)) return;
    committing_ = false;
    const auto all = rd_kafka_event_error(given);
    const auto* list = rd_kafka_event_topic_partition_list(given);
    bool failed = all != RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; !failed && list != nullptr && i < list->cnt; ++i)
        failed = list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR;
    if (failed) {
        commit_failed();
    } else {
        commit_failures_ = 0;
        std::vector<spi::callback<void(error)>> durable;
        for (const auto& [what, done] : std::exchange(in_commit_, {})) {
            what->core.committed(done);
            what->said_goodbye = what->said_goodbye || done.last;
            const auto ready =
                std::ranges::partition(what->waiters, [&](const auto& each) { return each.revision > done.revision; });
            for (auto& each : ready)
                durable.push_back(std::move(each.done));
            what->waiters.erase(ready.begin(), ready.end());
        }
        for (auto& each : durable)
            each({});
    }
    if (commit_again_ && !failed) start_commit();
    proceed_revoke();
    proceed_leave();
    if (!failed && !closed_) {
        const bool more = std::ranges::any_of(holdings_, [](const auto& each) { return each.second->core.dirty(); });
        if (more && !committing_) settled_some();
        serve();
    }
}

void member::commit_failed() {
    in_commit_.clear();
    const auto pause = std::min(longest_pause, first_pause * (1U << std::min(commit_failures_++, 5U)));
    commit_soon(pause);
}

void member::when_durable(holding& what, spi::callback<void(error)> done) {
    what.waiters.push_back({what.core.revision(), std::move(done)});
    commit_now();
}

bool member::said_goodbye(bool revoking_only) const {
    if (plan_.groupless) return true;
    if (committing_) return false;
    return std::ranges::none_of(holdings_, [&](const auto& each) {
        const auto& what = *each.second;
        return (!revoking_only || what.now == stage::revoking) && (!what.said_goodbye || what.core.dirty());
    });
}

}  // namespace shove::kafka_backend
