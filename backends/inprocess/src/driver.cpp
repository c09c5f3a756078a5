#include "driver.hpp"

#include "subscription.hpp"

namespace shove::in_memory {

void driver::publish(const queue_topology& topology, spi::publish_request request,
                     spi::callback<void(spi::publish_report)> done) {
    const auto& name = topology.place_of(request.shard);
    queue* target = core_->find(name);
    if (target) return target->publish(std::move(request), std::move(done));
    spi::publish_report report;
    report.each.resize(request.messages.size(), {spi::publish_status::not_attempted, errc::not_attempted});
    if (!report.each.empty()) report.each.front() = {spi::publish_status::failed, core_->missing(name)};
    done(std::move(report));
}

void driver::subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
    const std::string name = from.dead_letters ? from.topology->dead_letter_queue : from.topology->place_of(from.shard);
    if (from.prefetch == 0)
        return done(error(errc::invalid_argument, "queue '" + name + "': prefetch must be at least 1"));
    queue* source = core_->find(name);
    if (!source) return done(core_->missing(name));
    auto made = std::make_shared<subscription>(clock_, core_, *source, std::move(from));
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
