#include <shove/rabbitmq.hpp>

#include "check_config.hpp"
#include "driver.hpp"

namespace shove {

result<std::shared_ptr<spi::driver>> rabbitmq::open(const config& settings, const spi::driver_context& context) {
    if (auto wrong = rabbitmq_backend::check_config(settings)) return wrong;
    return std::shared_ptr<spi::driver>(
        std::make_shared<rabbitmq_backend::driver>(std::make_shared<const rabbitmq::config>(settings), context.clock));
}

}  // namespace shove
