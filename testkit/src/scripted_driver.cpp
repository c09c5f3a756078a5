#include <shove/testkit/scripted_driver.hpp>

#include <algorithm>
#include <utility>

#include "scripted_subscription.hpp"

namespace shove::testkit {

spi::delivery make_delivery(std::string_view body, std::optional<spi::history> past) {
    spi::delivery made;
    message_parts parts;
    parts.id = body;
    parts.payload = std::as_bytes(std::span(body));
    made.msg = message::make(parts);
    if (past) made.past = std::make_unique<spi::history>(std::move(*past));
    return made;
}

spi::capabilities scripted_driver::least() {
    spi::capabilities can;
    can.backend = "scripted";
    return can;
}

std::uint64_t scripted_driver::deliver(std::string_view body, std::optional<spi::history> past) {
    return deliver(make_delivery(body, std::move(past)));
}

std::uint64_t scripted_driver::deliver_to(std::string_view queue, std::string_view body,
                                          std::optional<spi::history> past) {
    std::vector<spi::delivery> items;
    items.push_back(make_delivery(body, std::move(past)));
    return queue_up(std::move(items), queue);
}

std::uint64_t scripted_driver::deliver(const std::vector<std::string>& bodies) {
    std::vector<spi::delivery> items;
    for (const auto& body : bodies)
        items.push_back(make_delivery(body));
    return queue_up(std::move(items));
}

std::uint64_t scripted_driver::deliver(spi::delivery item) {
    std::vector<spi::delivery> items;
    items.push_back(std::move(item));
    return queue_up(std::move(items));
}

std::uint64_t scripted_driver::queue_up(std::vector<spi::delivery> items, std::string_view queue) {
    std::uint64_t first = 0;
    for (const auto& item : items) {
        const auto body = item.msg.payload();
        bodies_.add(std::string(reinterpret_cast<const char*>(body.data()), body.size()));
    }
    {
        const std::lock_guard lock(mutex_);
        first = next_tag_;
        for (auto& item : items) {
            item.tag = next_tag_++;
            waiting_.push_back({std::move(item), std::string(queue)});
        }
    }
    serve();
    return first;
}

/// What a waiting `receive` may have. With the lock held.
std::vector<spi::delivery> scripted_driver::matching(const scripted_subscription& who) {
    std::vector<spi::delivery> batch;
    for (auto it = waiting_.begin(); it != waiting_.end() && batch.size() < who.max();) {
        if (!it->queue.empty() && it->queue != who.queue()) {
            ++it;
            continue;
        }
        out_[it->item.tag] = &who;
        batch.push_back(std::move(it->item));
        it = waiting_.erase(it);
    }
    return batch;
}

/// Answers a waiting `receive` if there is something for it.
void scripted_driver::serve() {
    receive_done done;
    std::vector<spi::delivery> batch;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& weak : subscriptions_) {
            const auto each = weak.lock();
            if (!each || !each->wants()) continue;
            batch = matching(*each);
            if (batch.empty()) continue;
            done = each->take_receive();
            break;
        }
    }
    if (done) done(std::move(batch));
}

void scripted_driver::settle_batch(const std::string& queue, std::vector<spi::settlement> batch, settle_done done) {
    auto work = [this, self = shared_from_this(), queue,
                 batch = std::make_shared<std::vector<spi::settlement>>(std::move(batch)),
                 done = std::make_shared<settle_done>(std::move(done))] {
        const auto script = current();
        std::vector<spi::failed_settlement> failed;
        for (auto& each : *batch) {
            error why;
            if (!carry_out(script, queue, each, why)) failed.push_back({std::move(each), why});
        }
        (*done)(std::move(failed));
    };
    {
        const std::lock_guard lock(mutex_);
        if (holding_settles_) {
            held_settles_.emplace_back(std::move(work));
            return;
        }
    }
    work();
}

bool scripted_driver::carry_out(const answers& script, const std::string& queue, const spi::settlement& what,
                                error& why) {
    const auto payload = what.item.msg.payload();
    settled_item item{what.item.tag,
                      what.kind,
                      what.delay,
                      what.tier,
                      {reinterpret_cast<const char*>(payload.data()), payload.size()},
                      queue,
                      what.item.past ? *what.item.past : spi::history{}};
    if (script.settle) why = script.settle(item);
    {
        const std::lock_guard lock(mutex_);
        const bool ends = !why || why == errc::lease_lost;
        if (!out_.contains(item.tag) && !lost_.contains(item.tag)) breach("settled twice: " + item.body);
        if (ends && what.kind != spi::settlement_kind::keep) out_.erase(item.tag);
    }
    (why ? refused_ : settled_).add(std::move(item));
    return !why;
}

scripted_driver::answers scripted_driver::current() const {
    const std::lock_guard lock(mutex_);
    return answers_;
}

void scripted_driver::fail_receives(error why, std::size_t times) {
    const std::lock_guard lock(mutex_);
    receive_error_ = std::move(why);
    receive_failures_ = times;
}

std::size_t scripted_driver::break_receives(const error& why, std::size_t consumers) {
    std::vector<receive_done> broken;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& weak : subscriptions_) {
            const auto each = weak.lock();
            if (broken.size() < consumers && each && each->wants()) broken.push_back(each->take_receive());
        }
    }
    for (auto& done : broken)
        done(why);
    return broken.size();
}

void scripted_driver::hold_settles() {
    const std::lock_guard lock(mutex_);
    holding_settles_ = true;
}

void scripted_driver::release_settles() {
    std::vector<std::function<void()>> held;
    {
        const std::lock_guard lock(mutex_);
        holding_settles_ = false;
        held.swap(held_settles_);
    }
    for (auto& each : held)
        each();
}

void scripted_driver::on_receive(std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    answers_.receive = std::move(action);
}

void scripted_driver::on_settle(std::function<error(const settled_item&)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.settle = std::move(answer);
}

void scripted_driver::on_extend(std::function<std::vector<std::uint64_t>(const std::vector<std::uint64_t>&)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.extend = std::move(answer);
}

void scripted_driver::on_isolate(std::function<error(std::uint64_t)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.isolate = std::move(answer);
}

void scripted_driver::on_declare(std::function<error(const queue_topology&)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.declare = std::move(answer);
}

void scripted_driver::on_subscribe(std::function<error(const spi::source&)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.subscribe = std::move(answer);
}

void scripted_driver::on_publish(
    std::function<std::optional<spi::publish_report>(const spi::publish_request&)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.publish = std::move(answer);
}

void scripted_driver::on_depth(std::function<std::optional<result<spi::queue_depth>>(const std::string&)> answer) {
    const std::lock_guard lock(mutex_);
    answers_.depth = std::move(answer);
}

void scripted_driver::on_ping(std::function<std::optional<error>()> answer) {
    const std::lock_guard lock(mutex_);
    answers_.ping = std::move(answer);
}

void scripted_driver::on_describe(std::function<result<spi::description>()> answer) {
    const std::lock_guard lock(mutex_);
    answers_.describe = std::move(answer);
}

void scripted_driver::on_close(std::function<std::optional<error>()> answer) {
    const std::lock_guard lock(mutex_);
    answers_.close = std::move(answer);
}

std::size_t scripted_driver::count(std::string_view operation) const {
    const auto lines = log_.all();
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const auto& line) { return line.substr(0, line.find(' ')) == operation; }));
}

std::size_t scripted_driver::unsettled() const {
    const std::lock_guard lock(mutex_);
    return out_.size();
}

bool scripted_driver::receiving() const {
    return receivers() > 0;
}

std::size_t scripted_driver::receivers() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(subscriptions_, [](const auto& weak) {
        const auto each = weak.lock();
        return each && each->wants();
    }));
}

void scripted_driver::declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) {
    log_.add("declare " + topology->queue);
    const auto answer = current().declare;
    done(answer ? answer(*topology) : error());
}

void scripted_driver::publish(const queue_topology&, spi::publish_request request,
                              spi::callback<void(spi::publish_report)> done) {
    log_.add("publish " + std::to_string(request.messages.size()));
    const auto answer = current().publish;
    const auto report = answer ? answer(request) : std::optional(spi::publish_report{});
    if (report) return done(*report);
    leave_unanswered([done = std::move(done), n = request.messages.size()]() mutable {
        done({std::vector<spi::publish_result>(n, {spi::publish_status::failed, error(errc::closed)})});
    });
}

void scripted_driver::subscribe(spi::source from,
                                spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
    log_.add("subscribe " + (from.dead_letters ? from.topology->dead_letter_queue : from.topology->reader_queue));
    const auto answer = current().subscribe;
    if (const auto why = answer ? answer(from) : error()) return done(why);
    const auto made = std::make_shared<scripted_subscription>(shared_from_this(), from);
    {
        const std::lock_guard lock(mutex_);
        subscriptions_.push_back(made);
    }
    done(std::shared_ptr<spi::subscription>(made));
}

void scripted_driver::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    log_.add("depth " + queue);
    if (const auto answer = current().depth) {
        if (auto told = answer(queue)) return done(std::move(*told));
        return leave_unanswered([done = std::move(done)]() mutable { done(error(errc::closed)); });
    }
    spi::queue_depth found;
    {
        const std::lock_guard lock(mutex_);
        found.ready = waiting_.size();
        found.in_flight = out_.size();
    }
    done(found);
}

void scripted_driver::ping(steady_time, spi::callback<void(error)> done) {
    log_.add("ping");
    const auto answer = current().ping;
    if (const auto why = answer ? answer() : std::optional(error())) return done(*why);
    leave_unanswered([done = std::move(done)]() mutable { done(error(errc::closed)); });
}

void scripted_driver::describe(spi::callback<void(result<spi::description>)> done) {
    log_.add("describe");
    const auto answer = current().describe;
    done(answer ? answer() : spi::description{});
}

void scripted_driver::close(steady_time, spi::callback<void(error)> done) {
    log_.add("close");
    const auto answer = current().close;
    if (const auto why = answer ? answer() : std::optional(error())) return done(*why);
    leave_unanswered([done = std::move(done)]() mutable { done(error(errc::closed)); });
}

void scripted_driver::leave_unanswered(unique_function<void()> answer) {
    const std::lock_guard lock(mutex_);
    unanswered_.push_back(std::move(answer));
}

std::size_t scripted_driver::unanswered() const {
    const std::lock_guard lock(mutex_);
    return unanswered_.size();
}

void scripted_driver::answer_the_rest() {
    std::vector<unique_function<void()>> left;
    {
        const std::lock_guard lock(mutex_);
        left.swap(unanswered_);
    }
    for (auto& each : left)
        each();
}

}  // namespace shove::testkit
