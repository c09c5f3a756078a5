#include "topologies.hpp"

#include <utility>

#include "resharding.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// How long it is believed that a queue has no exchange of ours.
constexpr std::chrono::seconds default_way_life{5};
constexpr std::chrono::seconds patience{30};

std::string way_name(const queue_topology& topology) {
    return topology.broadcast ? fanout_exchange(topology.queue) : topology.queue;
}

error missing(const std::string& queue) {
    return {errc::unknown_queue, "queue '" + queue +
                                     "' was not declared on this RabbitMQ virtual host; declare its topic "
                                     "first"};
}

}  // namespace

void topologies::declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) {
    auto shared = std::make_shared<spi::callback<void(error)>>(std::move(done));
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + patience;
    job.run = [self = shared_from_this(), topology = std::move(topology), shared](ask_channel& over) {
        make_way(over, *topology, *self->settings_);
        self->run(over, *topology);
        self->store_way(*topology, !topology->external);
        {
            const std::lock_guard lock(self->mutex_);
            for (const auto& place : topology->places())
                self->declared_[place] = topology;
            if (!topology->dead_letter_queue.empty()) self->declared_[topology->dead_letter_queue] = topology;
        }
        (*shared)({});
    };
    job.fail = [shared](const error& why) { (*shared)(why); };
    control_->post(std::move(job));
}

void topologies::run(ask_channel& over, const queue_topology& topology) const {
    if (topology.external && !count_ready(over, topology.queue)) {
        throw channel_failed{
            error(errc::unknown_queue, "queue '" + topology.queue +
                                           "' is declared as external() and is not there; whoever owns "
                                           "it must make it"),
            0};
    }
    const bool reads = reads_from_another(topology) && settings_->queues == rabbitmq::queue_type::classic;
    if (reads && !topology.sequencing && !count_ready(over, topology.queue)) {
        throw channel_failed{
            error(errc::unknown_queue,
                  "reader group '" + topology.reader_group + "' of queue '" + topology.queue +
                      "': the queue is not there, and how it is made is not known; declare its own topic "
                      "first"),
            0};
    }
    rabbitmq_backend::declare(over, layout_of(topology, settings_->queues));
}

void topologies::repair(const std::string& queue) {
    const auto topology = find(queue);
    if (!topology) return;
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + patience;
    job.run = [self = shared_from_this(), topology](ask_channel& over) { self->run(over, *topology); };
    job.fail = [](const error&) {};
    control_->post(std::move(job));
}

void topologies::way_to(const queue_topology& topology, steady_time deadline, found done) {
    std::shared_ptr<const route> way;
    {
        const std::lock_guard lock(mutex_);
        const auto at = ways_.find(way_name(topology));
        if (at != ways_.end() && at->second.until > std::chrono::steady_clock::now()) way = at->second.way;
    }
    if (way) return done(std::move(way));
    auto shared = std::make_shared<found>(std::move(done));
    control_job job;
    job.deadline = deadline;
    job.run = [self = shared_from_this(), topology, shared](ask_channel& over) {
        (*shared)(self->ask_way(over, topology));
    };
    job.fail = [shared](const error& why) { (*shared)(why); };
    control_->post(std::move(job));
}

std::shared_ptr<const route> topologies::ask_way(ask_channel& over, const queue_topology& topology) {
    const auto exchange = publish_exchange(topology);
    if (!exchange.empty() && has_exchange(over, exchange)) return store_way(topology, true);
    const bool there = topology.sequencing ? has_exchange(over, hash_exchange(topology.queue))
                                           : !topology.broadcast && count_ready(over, topology.queue).has_value();
    if (!there) throw channel_failed{missing(topology.queue), 0};
    return store_way(topology, false);
}

std::shared_ptr<const route> topologies::store_way(const queue_topology& topology, bool by_exchange) {
    route made;
    if (by_exchange) {
        made.exchange = publish_exchange(topology);
    } else if (topology.sequencing) {
        made.exchange = hash_exchange(topology.queue);
    }
    made.by_key = topology.sequencing.has_value();
    made.by_shard = made.by_key && by_exchange && publishers_choose_shards(settings_->queues);
    made.routing_key = topology.broadcast ? "" : topology.queue;
    made.mandatory = !topology.broadcast;
    auto way = std::make_shared<const route>(std::move(made));
    const std::lock_guard lock(mutex_);
    ways_[way_name(topology)] = {
        way, by_exchange ? steady_time::max() : std::chrono::steady_clock::now() + default_way_life};
    return way;
}

void topologies::forget_way(const queue_topology& topology) {
    const std::lock_guard lock(mutex_);
    ways_.erase(way_name(topology));
}

std::shared_ptr<const queue_topology> topologies::find(const std::string& queue) const {
    const std::lock_guard lock(mutex_);
    const auto at = declared_.find(queue);
    return at == declared_.end() ? nullptr : at->second;
}

}  // namespace shove::rabbitmq_backend
