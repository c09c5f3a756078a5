#include "driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "publish_batch.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// How long a question waits for a connection.
constexpr std::chrono::seconds patience{30};
/// A consumer's tag is a short string.
constexpr std::size_t longest_tag = 200;
constexpr std::size_t largest_prefetch = 65'535;

/// Stands for one broker of one process.
std::string fresh_name() {
    std::random_device source;
    return std::to_string(::getpid()) + "-" + std::to_string(source()) + std::to_string(source());
}

error missing(const std::string& queue) {
    return {errc::unknown_queue,
            "queue '" + queue + "' is not on this RabbitMQ virtual host; declare its topic first"};
}

}  // namespace

driver::driver(std::shared_ptr<const rabbitmq::config> settings, std::shared_ptr<shove::clock> time)
    : settings_(std::move(settings)),
      clock_(std::move(time)),
      capabilities_(rabbitmq::capabilities),
      process_(fresh_name()) {
    shared_.settings = settings_;
    shared_.asking = std::make_shared<control>(settings_);
    shared_.publishing = std::make_shared<outlet>(settings_);
    shared_.waiting = std::make_shared<delays>(shared_.asking);
    known_ = std::make_shared<topologies>(settings_, shared_.asking);
}

driver::~driver() {
    close(std::chrono::steady_clock::now(), [](const error&) {});
    if (closing_.joinable()) closing_.join();
    shared_.publishing->finish();
    shared_.asking->finish();
    for (const auto& one : intakes_)
        one->finish();
}

void driver::declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) {
    known_->declare(std::move(topology), std::move(done));
}

void driver::publish(const queue_topology& topology, spi::publish_request request,
                     spi::callback<void(spi::publish_report)> done) {
    std::make_shared<publish_batch>(shared_, known_, topology, std::move(request), std::move(done))->start();
}

void driver::subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
    const auto queue = from.dead_letters ? from.topology->dead_letter_queue : from.topology->place_of(from.shard);
    if (from.prefetch == 0) {
        return done(error(errc::invalid_argument, "queue '" + queue + "': prefetch must be at least 1"));
    }
    if (from.broadcast && from.broadcast->from != broadcast_start::kind::tail) {
        return done(error(errc::unsupported, "queue '" + queue +
                                                 "': RabbitMQ keeps no history of a broadcast; begin at the tail"));
    }
    const auto on = intake_with_room();
    if (!on) return done(closed_error());
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto made = std::make_shared<std::shared_ptr<subscription>>();
    auto started = [answer, made](const error& why) {
        auto mine = std::exchange(*made, nullptr);
        if (why) return (*answer)(why);
        (*answer)(std::shared_ptr<spi::subscription>(std::move(mine)));
    };
    auto who = std::make_shared<consumer>(on, plan_for(from, queue), std::move(started));
    *made = std::make_shared<subscription>(shared_, routes_of(*from.topology, queue), who);
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(consumers_, [](const auto& weak) { return weak.expired(); });
        consumers_.push_back(who);
    }
    on->add(who);
}

consumer_plan driver::plan_for(const spi::source& from, const std::string& queue) {
    consumer_plan plan;
    plan.name = from.consumer.substr(0, longest_tag);
    plan.prefetch = static_cast<std::uint16_t>(std::min(from.prefetch, largest_prefetch));
    plan.dead = from.dead_letters;
    if (from.broadcast) {
        plan.fanout = fanout_exchange(queue);
        return plan;
    }
    plan.queue = queue;
    if (from.shard) {
        plan.shard = true;
        plan.process = process_;
        plan.publishing = shared_.publishing;
        plan.key_exchange = hash_exchange(from.topology->reader_queue);
    }
    plan.repair = [weak = std::weak_ptr(known_), queue] {
        if (const auto known = weak.lock()) known->repair(queue);
    };
    if (!plan.dead && !plan.shard) {
        plan.notes = std::make_shared<crash_notes>(shared_.asking, shared_.publishing, queue);
    }
    const std::lock_guard lock(mutex_);
    auto& lost = lost_[queue];
    if (!lost) lost = std::make_shared<lost_and_found>();
    plan.lost = lost;
    return plan;
}

std::shared_ptr<intake> driver::intake_with_room() {
    const std::lock_guard lock(mutex_);
    if (closed_) return nullptr;
    const auto most = std::max<std::size_t>(settings_->consumers_per_connection, 1);
    const auto free = std::ranges::find_if(intakes_, [&](const auto& one) { return one->size() < most; });
    if (free != intakes_.end()) return *free;
    return intakes_.emplace_back(std::make_shared<intake>(settings_));
}

std::size_t driver::unsettled_in(const std::string& queue) const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& weak : consumers_) {
        const auto who = weak.lock();
        if (who && who->plan().queue == queue) count += who->unsettled();
    }
    return count;
}

/// Where messages wait before they come to a queue, as far as this process knows.
std::vector<std::string> driver::waiting_queues(const std::string& queue, const queue_topology* topology) const {
    const bool reads = topology && topology->dead_letter_queue != queue;
    auto names = shared_.waiting->waiting_for(queue, reads ? topology->queue : queue);
    if (!reads) return names;
    for (const auto& tier : topology->holds)
        names.push_back(tier.queue);
    return names;
}

void driver::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + patience;
    job.run = [this, queue = std::move(queue), answer](ask_channel& over) {
        spi::queue_depth depth;
        const auto topology = known_->find(queue);
        if (topology && topology->broadcast) return (*answer)(depth);  // it keeps nothing
        for (const auto& waiting : waiting_queues(queue, topology.get()))
            depth.delayed += count_ready(over, waiting).value_or(0);
        depth.in_flight = unsettled_in(queue);
        const auto ready = count_ready(over, queue);
        if (!ready) return (*answer)(missing(queue));
        depth.ready = *ready;
        (*answer)(depth);
    };
    job.fail = [answer](const error& why) { (*answer)(why); };
    shared_.asking->post(std::move(job));
}

void driver::ping(steady_time deadline, spi::callback<void(error)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    control_job job;
    job.deadline = deadline;
    job.run = [answer](ask_channel& over) {
        over.close();  // opened and closed: a round trip
        (void)over.number();
        (*answer)({});
    };
    job.fail = [answer](const error& why) { (*answer)(why); };
    shared_.asking->post(std::move(job));
}

void driver::describe(spi::callback<void(result<spi::description>)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + patience;
    job.run = [this, answer](ask_channel& over) {
        const auto& server = over.on().server();
        spi::description told;
        told.facts = {{server.product.empty() ? "server" : server.product, server.version},
                      {"address", over.on().peer()},
                      {"virtual host", settings_->virtual_host},
                      {"queues", settings_->queues == rabbitmq::queue_type::quorum ? "quorum" : "classic"},
                      {"TLS", settings_->tls ? "on" : "off"}};
        (*answer)(std::move(told));
    };
    job.fail = [answer](const error& why) { (*answer)(why); };
    shared_.asking->post(std::move(job));
}

void driver::close(steady_time deadline, spi::callback<void(error)> done) {
    std::vector<std::shared_ptr<intake>> intakes;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return done({});
        closed_ = true;
        intakes = intakes_;
    }
    for (const auto& one : intakes)
        one->shut();
    shared_.publishing->shut();
    shared_.asking->shut();
    // Waiting for the connections' threads is work that blocks.
    closing_ = std::thread([shared = shared_, intakes = std::move(intakes), deadline, done = std::move(done)]() mutable {
        bool in_time = shared.publishing->wait_stopped(deadline);
        for (const auto& one : intakes)
            in_time = one->wait_stopped(deadline) && in_time;
        in_time = shared.asking->wait_stopped(deadline) && in_time;
        done(in_time ? error() : error(errc::timed_out, "closing the connections to RabbitMQ took too long"));
    });
}

}  // namespace shove::rabbitmq_backend
