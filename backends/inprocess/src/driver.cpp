#include "driver.hpp"

#include "subscription.hpp"

namespace shove::in_memory {

void driver::publish(const queue_topology& topology, spi::publish_request request,
                     spi::callback<void(spi::publish_report)> done) {
    const auto& name = topology.target_of(request.shard);
    queue* target = core_->find(name);
    const bool fits = target && (target->what() == queue::kind::relay) == topology.broadcast;
    if (fits) return target->publish(std::move(request), std::move(done));
    auto cause = target ? core_->check_kind(*target, topology.broadcast) : core_->missing(name);
    spi::publish_report report;
    report.each.resize(request.messages.size(), {spi::publish_status::not_attempted, errc::not_attempted});
    if (!report.each.empty()) report.each.front() = {spi::publish_status::failed, std::move(cause)};
    done(std::move(report));
}

void driver::subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
    const std::string name = from.dead_letters ? from.topology->dead_letter_queue : from.topology->place_of(from.shard);
    if (from.prefetch == 0)
        return done(error(errc::invalid_argument, "queue '" + name + "': prefetch must be at least 1"));
    queue* source = core_->find(name);
    if (!source) return done(core_->missing(name));
    if (auto wrong = core_->check_kind(*source, from.broadcast.has_value())) return done(std::move(wrong));
    std::shared_ptr<tap> own;
    if (from.broadcast) {
        if (from.broadcast->from != broadcast_start::kind::tail) {
            return done(error(errc::unsupported, "queue '" + name +
                                                     "': the in-process backend keeps no history of a "
                                                     "broadcast; begin at the tail"));
        }
        own = std::make_shared<tap>(core_, *source);
        if (!own->open()) return done(closed_error());
        source = &own->target();
    }
    auto made = std::make_shared<subscription>(clock_, core_, *source, std::move(from), std::move(own));
    if (!made->attach()) return done(closed_error());
    done(std::shared_ptr<spi::subscription>(std::move(made)));
}

void driver::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    auto* found = core_->find(queue);
    if (core_->closed() || !found) return done(core_->missing(queue));
    done(found->depth());
}

void driver::ping(steady_time, spi::callback<void(error)> done) {
    done(core_->closed() ? closed_error() : error());
}

void driver::close(steady_time, spi::callback<void(error)> done) {
    core_->close();
    done({});
}

}  // namespace shove::in_memory
