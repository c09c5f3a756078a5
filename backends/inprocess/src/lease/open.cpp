#include <shove/inprocess_leases.hpp>

#include <shove/detail/lease_rules.hpp>

#include <utility>

#include "port.hpp"

namespace shove {

result<lease_broker> open_inprocess_leases(lease_options options) {
    if (auto wrong = detail::check_options(options)) return wrong;
    const auto made =
        std::make_shared<inprocess_backend::lease::port>(options, options.clock ? options.clock : make_system_clock());
    made->start_retention();
    return lease_broker(made, std::move(options));
}

}  // namespace shove
