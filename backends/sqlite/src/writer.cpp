#include "writer.hpp"

#include "recover_job.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

using namespace std::chrono_literals;
using real_clock = std::chrono::steady_clock;

namespace {

bool is_storage_failure(const error& cause) {
    return cause == errc::storage_full || cause == errc::storage_read_only || cause == errc::storage_busy ||
           cause == errc::storage_corrupt || cause == errc::connection_lost;
}

/// Moves the jobs that carry messages in out of `jobs`: with a full disk, these cannot be stored but
/// the others may.
job_list split_publishes(job_list& jobs) {
    const auto first = std::stable_partition(jobs.begin(), jobs.end(), [](const auto& j) { return j->bytes() == 0; });
    job_list publishes(std::make_move_iterator(first), std::make_move_iterator(jobs.end()));
    jobs.erase(first, jobs.end());
    return publishes;
}

}  // namespace

writer::writer(std::unique_ptr<store> file, std::shared_ptr<mailbox> inbox, std::shared_ptr<clock> time,
               milliseconds poll)
    : file_(std::move(file)),
      inbox_(std::move(inbox)),
      time_(std::move(time)),
      poll_(std::max(poll, milliseconds(1))),
      claims_(*file_),
      place_{*file_, claims_, readers_} {}

void writer::run() {
    for (;;) {
        auto jobs = inbox_->take(patience());
        const bool ending = jobs.empty() && inbox_->is_shut();
        look_around(jobs);
        work(std::move(jobs));
        if (ending) break;
        arm_timer();
    }
    leave();
}

std::optional<real_clock::duration> writer::patience() {
    for (auto& [queue, at] : readers_.lines()) {
        if (at.wanted()) return real_clock::duration::zero();
    }
    if (readers_.anybody()) return poll_;
    // Deliveries of ours, or of others, may be lost while nobody waits here; a slow look is enough.
    if (readers_.open > 0) return 1s;
    return std::nullopt;
}

void writer::look_around(job_list& jobs) {
    // Who only publishes to subscriptions sees to it that those of dead processes go.
    if (readers_.open == 0 && !file_->queues.feeds_subscriptions()) return;
    if (file_->changed_elsewhere()) readers_.hope_all();
    const auto wall = file_->wall_us();
    for (auto& [queue, at] : readers_.lines()) {
        if (at.next_due && *at.next_due <= wall) at.hopeful = true;
    }
    const auto now = real_clock::now();
    if (now >= next_look_) look_for_lost(jobs, now);
}

void writer::look_for_lost(job_list& jobs, instant now) {
    next_look_ = now + (readers_.anybody() ? 100ms : 1000ms);
    auto dead = file_->owners.find_dead(file_->self());
    bool expired = false;
    if (now >= next_expiry_look_) {
        next_expiry_look_ = now + 1s;
        expired = file_->leases.any_expired(file_->steady_us()) || !file_->shards.expired(file_->steady_us()).empty();
    }
    file_->db.clear_failure();
    if (!dead.empty() || expired) jobs.insert(jobs.begin(), std::make_unique<recover_job>(std::move(dead), expired));
}

void writer::work(job_list jobs) {
    const auto writes = std::stable_partition(jobs.begin(), jobs.end(), [](const auto& j) { return !j->writes(); });
    for (auto at = jobs.begin(); at != writes; ++at)
        (*at)->finish(place_, {}, false);
    jobs.erase(jobs.begin(), writes);
    if (!jobs.empty() || anything_to_serve()) transact(std::move(jobs));
}

bool writer::anything_to_serve() {
    bool something = false;
    for (auto& [queue, at] : readers_.lines()) {
        if (!at.wanted()) continue;
        if (file_->changed_elsewhere()) readers_.hope_all();
        file_->queues.refresh(*queue);
        at.next_due = file_->parked.next_due(queue->group);
        const bool due = at.next_due && *at.next_due <= file_->wall_us();
        at.hopeful = (due || claims_.available(*queue, 1) > 0) && open_to_some(*file_, *queue, at);
        something = something || at.hopeful;
    }
    if (!file_->db.ok()) {
        const auto cause = file_->db.failure();
        file_->db.clear_failure();
        tell_readers(cause);
        return false;
    }
    return something;
}

void writer::transact(job_list jobs) {
    bool serving = true;
    int storage_failures = 0;
    while (!jobs.empty() || serving) {
        auto done = try_once(jobs, serving);
        if (done.committed) {
            ++commits_;
            hand_over(readers_, std::move(done.served));
            return finish(std::move(jobs), {}, false);
        }
        const auto cause = file_->db.failure();
        const bool maybe = done.in_commit && file_->db.fate_unknown();
        file_->rollback();
        file_->db.clear_failure();
        readers_.hope_all();
        const bool storage = is_storage_failure(cause);
        if (storage) ++storage_failures;
        if (done.in_serving) {
            serving = false;
            tell_readers(cause);
        } else if (done.culprit && storage_failures <= 3) {
            job_list failed;
            failed.push_back(std::move(jobs[*done.culprit]));
            jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(*done.culprit));
            finish(std::move(failed), cause, false);
        } else if (cause == errc::storage_full && storage_failures <= 5) {
            finish(split_publishes(jobs), cause, maybe);
            file_->reuse_log();
        } else {
            tell_readers(cause);
            return finish(std::move(jobs), cause, maybe);
        }
    }
}

writer::attempt writer::try_once(const job_list& jobs, bool serving) {
    attempt made;
    const bool durable = std::any_of(jobs.begin(), jobs.end(), [](const auto& j) { return j->durable(); });
    if (!file_->begin(durable)) return made;
    if (file_->changed_elsewhere()) readers_.hope_all();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        jobs[i]->apply(place_);
        if (!file_->db.ok()) {
            made.culprit = i;
            return made;
        }
    }
    if (serving) made.served = serve_all();
    made.in_serving = !file_->db.ok();
    if (made.in_serving) return made;
    made.in_commit = true;
    made.committed = file_->commit();
    return made;
}

std::vector<attendance::served> writer::serve_all() {
    std::vector<attendance::served> all;
    for (auto& [queue, at] : readers_.lines()) {
        if (!at.wanted()) continue;
        auto taken = serve(*file_, claims_, *queue, at);
        at.hopeful = !taken.empty() && claims_.available(*queue, 1) > 0 && open_to_some(*file_, *queue, at);
        std::move(taken.begin(), taken.end(), std::back_inserter(all));
        at.next_due = file_->parked.next_due(queue->group);
    }
    return all;
}

void writer::tell_readers(const error& cause) {
    for (auto& who : readers_.dismiss())
        std::exchange(who->done, nullptr)(cause);
}

void writer::finish(job_list jobs, const error& cause, bool maybe) {
    std::size_t messages = 0;
    std::size_t bytes = 0;
    for (auto& one : jobs) {
        if (one->bytes() > 0) messages += one->messages();
        bytes += one->bytes();
    }
    if (bytes > 0) inbox_->written(messages, bytes, *time_);
    for (auto& one : jobs)
        one->finish(place_, cause, maybe);
}

void writer::arm_timer() {
    std::optional<std::int64_t> due;
    for (const auto& [queue, at] : readers_.lines()) {
        if (at.next_due && (!due || *at.next_due < *due)) due = at.next_due;
    }
    if (due == timer_due_) return;
    if (timer_ != 0) time_->cancel(timer_);
    timer_ = 0;
    timer_due_ = due;
    if (!due) return;
    // The due time is of the calendar; if that clock is stepped, the poll notices.
    const auto wait = std::chrono::microseconds(std::max<std::int64_t>(0, *due - file_->wall_us()));
    timer_ = time_->call_at(time_->now() + wait, [inbox = inbox_] { inbox->ring(); });
}

void writer::leave() {
    if (timer_ != 0) time_->cancel(timer_);
    tell_readers(closed_error());
    inbox_->refuse_all(closed_error(), *time_);
    file_->leave();
}

}  // namespace shove::sqlite_backend
