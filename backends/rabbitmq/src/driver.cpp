#include "driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "answer_time.hpp"
#include "publish_batch.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// How long a question waits for a connection.
constexpr std::chrono::seconds patience{30};
/// On its way from a quorum queue where its time is over to its next queue a message is in no count. A queue for which
/// messages may wait is told to be empty if it is so twice, with this between.
constexpr std::chrono::milliseconds unseen{100};
/// A consumer's tag is a short string.
constexpr std::size_t longest_tag = 200;
constexpr std::size_t largest_prefetch = 65'535;

/// Stands for one broker of one process.
std::string fresh_name() {
    std::random_device source;
    return std::to_string(::getpid()) + "-" + std::to_string(source()) + std::to_string(source());
}

/// Lists come from the management API.
spi::capabilities capabilities_of(const rabbitmq::config& settings) {
    auto made = rabbitmq::capabilities;
    made.admin = !settings.management.empty();
    return made;
}

error missing(const std::string& queue) {
    return {errc::unknown_queue, "queue '" + queue + "' is not on this RabbitMQ virtual host; declare its topic first"};
}

}  // namespace

driver::driver(std::shared_ptr<const rabbitmq::config> settings, std::shared_ptr<shove::clock> time)
    : settings_(std::move(settings)),
      clock_(std::move(time)),
      capabilities_(capabilities_of(*settings_)),
      process_(fresh_name()) {
    shared_.settings = settings_;
    shared_.asking = std::make_shared<control>(settings_);
    shared_.publishing = std::make_shared<outlet>(settings_);
    shared_.waiting = std::make_shared<delays>(shared_.asking);
    known_ = std::make_shared<topologies>(settings_, shared_.asking);
    if (settings_->management.empty()) return;
    desk_ = std::make_shared<management_desk>(*settings_);
    queues_ = std::make_shared<census>(desk_);
    auto share = [this](const std::string& queue) { return share_of(queue); };
    admin_ = std::make_unique<rabbitmq_backend::admin>(rabbitmq_backend::admin::parts{
        settings_, clock_, desk_, queues_, shared_.publishing, known_, std::move(share)});
}

driver::~driver() {
    close(std::chrono::steady_clock::now(), [](const error&) {});
    if (closing_.joinable()) closing_.join();
    if (desk_) desk_->finish();
    shared_.publishing->finish();
    if (admin_) admin_->finish();
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
        return done(error(errc::unsupported,
                          "queue '" + queue + "': RabbitMQ keeps no history of a broadcast; begin at the tail"));
    }
    if (!admin_) return begin_consumer(from, queue, std::move(done));
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto source = std::make_shared<spi::source>(std::move(from));
    admin_->give_back(queue, [this, source, queue, answer] { begin_consumer(*source, queue, std::move(*answer)); });
}

void driver::begin_consumer(const spi::source& from, const std::string& queue,
                            spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
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
    plan.consumer_timeout = settings_->consumer_timeout;
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
    // What reads dead letters copies nothing.
    plan.transactional = settings_->transactional && !plan.dead;
    plan.user = settings_->user;
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

own_share driver::share_of(const std::string& queue) const {
    const std::lock_guard lock(mutex_);
    own_share made;
    for (const auto& weak : consumers_) {
        const auto who = weak.lock();
        if (!who || who->plan().queue != queue) continue;
        made.unsettled += who->unsettled();
        ++made.consumers;
    }
    return made;
}

std::vector<std::string> driver::waiting_queues(const std::string& queue, const queue_topology* topology,
                                                const queue_list& all) const {
    const bool reads = topology && topology->dead_letter_queue != queue;
    const auto& published_to = reads ? topology->queue : queue;
    auto names = shared_.waiting->waiting_for(queue, published_to);
    if (reads) {
        for (const auto& tier : topology->holds)
            names.push_back(tier.queue);
    }
    if (all) {
        for (const auto& each : *all) {
            if (waits_for(each, queue, published_to)) names.push_back(each.name);
        }
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

void driver::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    if (!admin_) return count(queue, nullptr, std::move(done));
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    admin_->give_back(queue, [this, queue, answer] {
        queues_->recent([this, queue, answer](const queue_list& all) { count(queue, all, std::move(*answer)); });
    });
}

void driver::count(const std::string& queue, queue_list all, spi::callback<void(result<spi::queue_depth>)> done,
                   bool again) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    const auto now = std::chrono::steady_clock::now();
    control_job job;
    job.deadline = now + patience;
    if (again) job.not_before = now + unseen;
    job.run = [this, again, queue, all = std::move(all), answer](ask_channel& over) {
        const auto topology = known_->find(queue);
        if (topology && topology->broadcast) return (*answer)(spi::queue_depth{});  // it keeps nothing
        const auto waiting = waiting_queues(queue, topology.get(), all);
        const auto share = [&] { return share_of(queue); };
        const auto told = measure(over, queue, waiting, find_queue(all, queue), share, clock_->wall());
        if (!told) return (*answer)(missing(queue));
        const bool empty = told->ready + told->in_flight + told->delayed == 0;
        const bool hides = settings_->queues == rabbitmq::queue_type::quorum && !waiting.empty();
        if (empty && hides && !again) return count(queue, all, std::move(*answer), true);
        (*answer)(*told);
    };
    job.fail = [answer](const error& why) { (*answer)(why); };
    shared_.asking->post(std::move(job));
}

void driver::ping(steady_time deadline, spi::callback<void(error)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    control_job job;
    job.deadline = answered_by(deadline);
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
        if (!desk_) return (*answer)(std::move(told));
        describe_management(std::move(told), std::move(*answer));
    };
    job.fail = [answer](const error& why) { (*answer)(why); };
    shared_.asking->post(std::move(job));
}

void driver::describe_management(spi::description told, spi::callback<void(result<spi::description>)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto known = std::make_shared<spi::description>(std::move(told));
    auto add = [answer, known](management& api) {
        const auto facts = api.overview();
        const auto note = [&](const char* name, const std::string& value) {
            if (!value.empty()) known->facts.push_back({name, value});
        };
        if (facts) {
            note("Erlang", facts->erlang_version);
            note("cluster", facts->cluster_name);
            note("node", facts->node);
            note("statistics", facts->statistics_disabled ? "off: what other processes hold is not known" : "on");
        } else {
            note("management API", "does not answer: " + facts.error().message());
        }
        (*answer)(std::move(*known));
    };
    desk_->ask(std::move(add), [answer](const error& why) { (*answer)(why); });
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
    if (desk_) desk_->shut();
    if (admin_) admin_->shut();
    shared_.publishing->shut();
    shared_.asking->shut();
    // Waiting for the connections' threads is work that blocks.
    closing_ = std::thread([shared = shared_, intakes = std::move(intakes), looking = admin_.get(), deadline,
                            done = std::move(done)]() mutable {
        bool in_time = shared.publishing->wait_stopped(deadline);
        for (const auto& one : intakes)
            in_time = one->wait_stopped(deadline) && in_time;
        in_time = shared.asking->wait_stopped(deadline) && in_time;
        if (looking) in_time = looking->wait_stopped(deadline) && in_time;
        done(in_time ? error() : error(errc::timed_out, "closing the connections to RabbitMQ took too long"));
    });
}

}  // namespace shove::rabbitmq_backend
