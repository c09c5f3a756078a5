#include "lease_port.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

/// A receive; one that finds nothing may go on to wait.
class receive_task final : public task {
public:
    receive_task(lease_request what, steady_time until, std::shared_ptr<waiting_list> waiting,
                 spi::lease_port::answer<std::vector<leased>> done)
        : task({.durable = false}), asked_{std::move(what), until, std::move(done)}, waiting_(std::move(waiting)) {}

    void apply(lease_store& in) override { made_ = in.receive(asked_.what); }
    void finish(const error& cause) override {
        if (cause) return asked_.done(cause);
        if (made_ && made_->empty() && asked_.what.wait > milliseconds(0)) {
            waiting_->push_back(std::move(asked_));
        } else {
            asked_.done(std::move(made_));
        }
    }

private:
    waiting_receive asked_;
    std::shared_ptr<waiting_list> waiting_;
    result<std::vector<leased>> made_{error(errc::internal)};
};

/// One answer for each of a batch; what fails the file ends it.
template <class T, class Items, class Each>
result<std::vector<result<T>>> each_of(lease_store& in, const Items& items, Each each) {
    std::vector<result<T>> made;
    made.reserve(items.size());
    for (const auto& one : items) {
        if (!in.db.ok()) break;
        made.push_back(each(one));
    }
    return made;
}

}  // namespace

port::port(std::unique_ptr<lease_store> file, const lease_options& as, milliseconds poll, std::shared_ptr<clock> time,
           std::shared_ptr<std::atomic<bool>> hurry)
    : limits_(file->limits()),
      time_(std::move(time)),
      hurry_(std::move(hurry)),
      inbox_(std::make_shared<task_queue>()),
      waiting_(std::make_shared<waiting_list>()) {
    worker::parts with{inbox_, waiting_, time_, as.retention, std::max(poll, milliseconds(1))};
    thread_ = std::thread([file = std::move(file), with = std::move(with)]() mutable {
        worker works(std::move(file), std::move(with));
        works.run();
    });
}

port::~port() {
    close();
    *hurry_ = true;
    // A callback may drop the last handle; then the thread ends by itself.
    if (thread_.get_id() == std::this_thread::get_id()) {
        thread_.detach();
    } else {
        thread_.join();
    }
}

void port::close() {
    inbox_->shut();
}

void port::publish(std::vector<spi::lease_publish> messages, answer<spi::lease_receipts> done) {
    task::nature what{.may_wake = true, .messages = messages.size()};
    for (const auto& each : messages)
        what.bytes += each.message.payload.size() + 256;
    inbox_->post(make_task<spi::lease_receipts>(
        what,
        [messages = std::move(messages)](lease_store& in) {
            return each_of<lease_receipt>(in, messages, [&](const auto& one) { return in.publish(one); });
        },
        std::move(done)));
}

void port::subscribe(std::string topic, std::string group, lease_start from, answer<lease_subscribed> done) {
    inbox_->post(make_task<lease_subscribed>(
        {},
        [topic = std::move(topic), group = std::move(group), from](lease_store& in) {
            return in.subscribe(topic, group, from);
        },
        std::move(done)));
}

void port::unsubscribe(std::string topic, std::string group, answer<std::size_t> done) {
    inbox_->post(make_task<std::size_t>(
        {.may_wake = true},
        [topic = std::move(topic), group = std::move(group)](lease_store& in) { return in.unsubscribe(topic, group); },
        std::move(done)));
}

void port::receive(lease_request what, answer<std::vector<leased>> done) {
    const auto until = time_->now() + what.wait;
    inbox_->post(std::make_unique<receive_task>(std::move(what), until, waiting_, std::move(done)));
}

void port::settle(std::vector<lease_settlement> what, answer<spi::lease_outcomes> done) {
    const bool only_extends =
        std::ranges::all_of(what, [](const auto& each) { return each.what == lease_settlement::kind::extend; });
    inbox_->post(make_task<spi::lease_outcomes>(
        {.durable = !only_extends, .may_wake = true},
        [what = std::move(what)](lease_store& in) {
            return each_of<lease_settled>(in, what, [&](const auto& one) { return in.settle(one); });
        },
        std::move(done)));
}

void port::dead_letters(lease_dead_query what, answer<lease_dead_page> done) {
    inbox_->post(make_task<lease_dead_page>(
        {.writes = false}, [what = std::move(what)](lease_store& in) { return in.dead_letters(what); },
        std::move(done)));
}

void port::redrive(lease_redrive what, answer<std::size_t> done) {
    inbox_->post(make_task<std::size_t>(
        {.may_wake = true}, [what = std::move(what)](lease_store& in) { return in.redrive(what); }, std::move(done)));
}

void port::purge(std::string topic, std::size_t limit, answer<std::size_t> done) {
    inbox_->post(make_task<std::size_t>(
        {}, [topic = std::move(topic), limit](lease_store& in) { return in.purge(topic, limit); }, std::move(done)));
}

void port::stats(answer<lease_stats> done) {
    inbox_->post(make_task<lease_stats>(
        {.writes = false}, [](lease_store& in) { return in.count(); }, std::move(done)));
}

}  // namespace shove::sqlite_backend::lease
