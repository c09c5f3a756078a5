#include <shove/sqlite.hpp>

#include "driver.hpp"

#include <utility>

namespace shove {

result<std::shared_ptr<spi::driver>> sqlite::open(const config& settings, const spi::driver_context& context) {
    using namespace sqlite_backend;
    auto time = context.clock ? context.clock : make_system_clock();
    auto end = std::make_shared<ending>(settings.path.string());
    store::options how{settings.path, settings.durability == durability::full, settings.lease, settings.busy_timeout,
                       end->hurry()};
    auto file = store::open(std::move(how), time);
    if (!file) return file.error();
    return std::make_shared<driver>(settings, std::move(time), std::move(*file), std::move(end));
}

}  // namespace shove
