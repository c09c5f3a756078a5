#include <shove/kafka.hpp>

#include "check_config.hpp"
#include "driver.hpp"

namespace shove {

result<std::shared_ptr<spi::driver>> kafka::open(const config& settings, const spi::driver_context& context) {
    if (auto wrong = kafka_backend::check_config(settings)) return wrong;
    auto made = std::make_shared<kafka_backend::driver>(std::make_shared<const kafka::config>(settings), context.clock);
    if (auto wrong = made->open()) return wrong;
    return std::shared_ptr<spi::driver>(std::move(made));
}

}  // namespace shove
