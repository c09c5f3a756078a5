#include "worker.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

bool is_durable(const task_list& tasks) {
    return std::ranges::any_of(tasks, [](const auto& each) { return each->what().durable; });
}

bool may_wake(const task_list& tasks) {
    return std::ranges::any_of(tasks, [](const auto& each) { return each->what().may_wake; });
}

}  // namespace

worker::worker(std::unique_ptr<lease_store> file, parts with) : file_(std::move(file)), with_(std::move(with)) {
    if (with_.retention.enabled()) next_retirement_ = with_.time->now() + with_.retention.every;
}

void worker::run() {
    arm();
    for (;;) {
        // What another process has written makes no noise here: real time.
        using patience = std::optional<std::chrono::steady_clock::duration>;
        auto tasks = with_.inbox->take(with_.waiting->empty() ? patience() : patience(with_.poll));
        if (tasks.empty() && with_.inbox->is_shut()) break;
        const bool hopeful = look_around();
        work(std::move(tasks), hopeful);
        if (with_.time->now() >= next_retirement_) retire();
        arm();
    }
    if (timer_ != 0) with_.time->cancel(timer_);
    for (auto& each : std::exchange(*with_.waiting, {}))
        each.done(detail::broker_closed());
}

/// True if waiting receives may find something, or have waited long enough.
bool worker::look_around() {
    if (with_.waiting->empty()) return false;
    const auto now = with_.time->now();
    const bool news = file_->changed_elsewhere();
    file_->db.clear_failure();
    return news || (next_change_ && *next_change_ <= now) ||
           std::ranges::any_of(*with_.waiting, [&](const auto& each) { return each.until <= now; });
}

void worker::work(task_list tasks, bool hopeful) {
    const auto writing =
        std::stable_partition(tasks.begin(), tasks.end(), [](const auto& t) { return t->what().writes; });
    const task_list reading(std::make_move_iterator(writing), std::make_move_iterator(tasks.end()));
    tasks.erase(writing, tasks.end());
    if (!tasks.empty() || hopeful) write(std::move(tasks), hopeful);
    read(reading);
}

void worker::write(task_list tasks, bool hopeful) {
    served_list served;
    if (transact(tasks, hopeful, true, served)) {
        tell(std::move(served));
        for (auto& each : tasks)
            each->finish({});
    } else if (!begun_) {
        const auto cause = failure_;
        for (auto& each : tasks)
            each->finish(cause);
        for (auto& each : std::exchange(*with_.waiting, {}))
            each.done(cause);
    } else {
        // One of them spoiled it: each for itself, so that the others are not its victims.
        write_each(tasks);
        serve_each();
    }
}

void worker::write_each(task_list& tasks) {
    served_list none;
    for (auto& each : tasks) {
        task_list alone;
        alone.push_back(std::move(each));
        const bool done = transact(alone, false, false, none);
        alone.front()->finish(done ? error() : failure_);
    }
}

void worker::serve_each() {
    for (auto each = with_.waiting->begin(); each != with_.waiting->end();) {
        const auto who = each++;
        served_list served;
        const bool begun = file_->begin(false);
        if (begun) serve(who, served);
        if (!begun || !file_->db.ok() || !file_->commit()) {
            served.assign(1, {who, file_->db.failure()});
            file_->rollback();
        }
        tell(std::move(served));
    }
}

bool worker::transact(const task_list& tasks, bool hopeful, bool serving, served_list& into) {
    begun_ = file_->begin(is_durable(tasks));
    for (const auto& each : tasks) {
        if (!file_->db.ok()) break;
        each->apply(*file_);
    }
    if (serving && (hopeful || may_wake(tasks))) {
        next_change_.reset();
        for (auto each = with_.waiting->begin(); each != with_.waiting->end() && file_->db.ok(); ++each)
            serve(each, into);
    }
    if (file_->db.ok() && file_->commit()) return true;
    failure_ = file_->db.failure();
    file_->rollback();
    into.clear();
    if (failure_ == errc::storage_full) file_->reuse_log();
    return false;
}

void worker::serve(waiting_list::iterator who, served_list& into) {
    auto taken = file_->receive(who->what);
    if (!taken || !taken->empty() || who->until <= with_.time->now()) return into.push_back({who, std::move(taken)});
    if (const auto next = file_->next_change(who->what.topic, who->what.group)) {
        next_change_ = next_change_ ? std::min(*next_change_, *next) : *next;
    }
}

void worker::tell(served_list all) {
    for (auto& each : all) {
        auto done = std::move(each.who->done);
        with_.waiting->erase(each.who);
        done(std::move(each.with));
    }
}

void worker::read(const task_list& tasks) {
    for (const auto& each : tasks) {
        if (file_->begin_reading()) each->apply(*file_);
        const auto failed = file_->db.failure();
        file_->end_reading();
        each->finish(failed);
    }
}

void worker::retire() {
    bool more = false;
    if (file_->begin(false)) more = file_->retire(with_.retention);
    if (!file_->db.ok() || !file_->commit()) {
        more = false;
        file_->rollback();
    }
    next_retirement_ = with_.time->now() + (more ? milliseconds(0) : with_.retention.every);
}

void worker::arm() {
    auto next = next_retirement_;
    if (!with_.waiting->empty() && next_change_) next = std::min(next, *next_change_);
    for (const auto& each : *with_.waiting)
        next = std::min(next, each.until);
    const auto wanted = next == steady_time::max() ? std::nullopt : std::optional(next);
    if (wanted == rings_at_ && wanted > with_.time->now()) return;
    if (timer_ != 0) with_.time->cancel(std::exchange(timer_, 0));
    rings_at_ = wanted;
    if (wanted) timer_ = with_.time->call_at(*wanted, [inbox = with_.inbox] { inbox->ring(); });
}

}  // namespace shove::sqlite_backend::lease
