#pragma once

#include <shove/inprocess.hpp>
#include <shove/testkit/backend_factory.hpp>

#include <memory>

namespace shove::testkit {

/// Brokers in one process share nothing, so a store is one broker.
inline backend_factory inprocess_factory() {
    backend_factory made;
    made.name = "inprocess";
    made.capabilities = inprocess::capabilities;
    made.make_store = [] { return std::make_unique<tagged_store<inprocess>>(inprocess::config{}); };
    made.make_bounded_store = [](std::size_t capacity) {
        return std::make_unique<tagged_store<inprocess>>(inprocess::config{.capacity = capacity});
    };
    made.injected_clock = true;
    return made;
}

}  // namespace shove::testkit
