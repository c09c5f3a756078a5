#include <shove/broker.hpp>

#include "blocking.hpp"
#include "bounded.hpp"
#include "broker_core.hpp"
#include "completion.hpp"
#include "depths.hpp"
#include "health_look.hpp"
#include "supported.hpp"

namespace shove::detail {
namespace {

void throw_if(const error& e) {
    if (e) throw exception(e);
}

result<void> as_result(error e) {
    if (e) return e;
    return {};
}

/// Completes with the error's code.
auto finisher(broker_core& core, boost::asio::any_completion_handler<void(error_code)> done) {
    return [finish = completion_on(core.executor(), std::move(done))](const error& e) mutable { finish(e.code); };
}

void ping_driver(broker_core& core, milliseconds deadline, unique_function<void(error)> done) {
    const auto until = core.clock().now() + deadline;
    bounded(core.clock(), until, "ping: no answer within " + std::to_string(deadline.count()) + " ms", std::move(done),
            [&](auto finish) { core.driver().ping(until, std::move(finish)); });
}

void declare_checked(broker_core& core, std::shared_ptr<const queue_topology> topology,
                     spi::callback<void(error)> done) {
    if (auto lacking = check_supported(*topology, core.capabilities())) return done(std::move(lacking));
    core.driver().declare(std::move(topology), std::move(done));
}

}  // namespace

std::shared_ptr<broker_core> make_core(std::shared_ptr<spi::driver> driver, broker_options options) {
    if (!options.clock) options.clock = make_system_clock();
    return std::make_shared<broker_core>(std::move(driver), std::move(options));
}

void broker_handle::declare(std::shared_ptr<const queue_topology> topology) const {
    throw_if(wait_for<error>([&](auto done) { declare_checked(*core_, std::move(topology), std::move(done)); }));
}

spi::queue_depth broker_handle::depth(std::string_view queue) const {
    return wait_for<result<spi::queue_depth>>(
               [&](auto done) { core_->driver().depth(std::string(queue), std::move(done)); })
        .value();
}

spi::queue_depth broker_handle::depth(const queue_topology& topology) const {
    const auto& places = topology.sequencing ? topology.sequencing->reader_queues : std::vector{topology.reader_queue};
    return wait_for<result<spi::queue_depth>>(
               [&](auto done) { add_up_depths(core_->driver(), places, std::move(done)); })
        .value();
}

health_report broker_handle::health(milliseconds starving_after) const {
    return look_at_health(*core_, starving_after);
}

result<void> broker_handle::ping(milliseconds deadline) const {
    if (core_->closed()) return error(errc::closed, "ping: the broker is closed");
    return as_result(wait_for<error>([&](auto done) { ping_driver(*core_, deadline, std::move(done)); }));
}

result<void> broker_handle::close(milliseconds deadline) const {
    return as_result(core_->close(deadline));
}

void broker_handle::shutdown(milliseconds deadline) const {
    core_->shutdown(deadline);
}

const spi::capabilities& broker_handle::capabilities() const noexcept {
    return core_->capabilities();
}

spi::description broker_handle::describe() const {
    if (core_->closed()) throw exception(error(errc::closed, "describe: the broker is closed"));
    return wait_for<result<spi::description>>([&](auto done) { core_->driver().describe(std::move(done)); }).value();
}

void broker_handle::async_declare(std::shared_ptr<const queue_topology> topology,
                                  boost::asio::any_completion_handler<void(error_code)> done) const {
    declare_checked(*core_, std::move(topology), finisher(*core_, std::move(done)));
}

void broker_handle::async_ping(milliseconds deadline,
                               boost::asio::any_completion_handler<void(error_code)> done) const {
    auto finish = finisher(*core_, std::move(done));
    if (core_->closed()) return finish(error(errc::closed));
    ping_driver(*core_, deadline, std::move(finish));
}

void broker_handle::async_close(milliseconds deadline,
                                boost::asio::any_completion_handler<void(error_code)> done) const {
    core_->spawn_waiter([core = core_.get(), deadline, finish = finisher(*core_, std::move(done))]() mutable {
        finish(core->close(deadline));
    });
}

}  // namespace shove::detail
