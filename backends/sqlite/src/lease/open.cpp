#include <shove/sqlite_leases.hpp>

#include <shove/detail/lease_rules.hpp>

#include <utility>

#include "lease_port.hpp"
#include "sealing_sealer.hpp"

namespace shove {

result<lease_broker> open_sqlite_leases(const sqlite_lease_config& config, lease_options options) {
    namespace lease = sqlite_backend::lease;
    if (auto wrong = detail::check_options(options)) return wrong;
    const auto time = options.clock ? options.clock : make_system_clock();
    auto hurry = std::make_shared<std::atomic<bool>>(false);
    const lease::lease_store::options how{config.path, config.durability == sqlite::durability::full,
                                          config.busy_timeout, hurry};
    auto seal = config.keys ? lease::make_sealing_sealer(*config.keys, options.name_space, lease::system_random())
                            : lease::make_plain_sealer();
    auto file = lease::lease_store::open(how, options, std::move(seal), time);
    if (!file) return file.error();
    auto made = std::make_shared<lease::port>(std::move(*file), options, config.poll, time, std::move(hurry));
    return lease_broker(std::move(made), std::move(options));
}

}  // namespace shove
