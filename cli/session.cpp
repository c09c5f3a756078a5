#include <shove/open.hpp>

#include "command.hpp"
#include "failure.hpp"

namespace shove::cli {

any_broker session::open(unsigned worker_threads, std::shared_ptr<metrics> measured) const {
    broker_options options;
    options.worker_threads = worker_threads;
    options.metrics = std::move(measured);
    options.log = [to = &console_](log_level level, std::string_view text) {
        if (level == log_level::warning) to->warning(text);
        if (level == log_level::error) to->error("broker", text);
    };
    try {
        return shove::open(options_.url, std::move(options));
    } catch (const exception& e) {
        if (!(e.cause() == errc::invalid_argument)) throw;
        throw usage_failure("--url (or SHOVE_URL): " + e.cause().message());
    }
}

}  // namespace shove::cli
