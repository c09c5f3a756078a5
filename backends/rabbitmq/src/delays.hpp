#pragma once

#include <shove/spi/driver.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "control.hpp"
#include "layout.hpp"
#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// Sees to it that a queue for a delay is there when it is needed. Such queues go by themselves when nobody has needed
/// them for ten minutes, so each is declared again after one.
/// @par Thread safety  Safe.
class delays {
public:
    using found = spi::callback<void(result<std::shared_ptr<const route>>)>;

    explicit delays(std::shared_ptr<control> over) : control_(std::move(over)) {}

    /// The way into the queue of that layout. At once if it was declared within the last minute.
    void with(queue_layout what, steady_time deadline, found done);
    /// The queues that were declared here in which messages wait for a reader's place, as far as that is remembered.
    std::vector<std::string> waiting_for(std::string_view place, std::string_view queue) const;
    /// The connection was lost, or a message came back: nothing is known to be there.
    void forget();

private:
    struct known {
        std::shared_ptr<const route> way;
        steady_time until{};
    };
    void store(const std::string& name, std::shared_ptr<const route> way);

    const std::shared_ptr<control> control_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, known> known_;
};

}  // namespace shove::rabbitmq_backend
