#include <shove/testkit/backend_factory.hpp>

namespace shove::testkit {

any_broker backend_store::open(broker_options options) {
    if (!options.clock) options.clock = make_system_clock();
    auto driver = connect({options.clock});
    return any_broker(detail::broker_handle(detail::make_core(std::move(driver), std::move(options))));
}

}  // namespace shove::testkit
