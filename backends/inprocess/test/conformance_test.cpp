#include <shove/inprocess.hpp>
#include <shove/testkit/conformance.hpp>

namespace {

using namespace shove;

/// Brokers in one process share nothing, so a store is one broker.
testkit::backend_factory inprocess_factory() {
    testkit::backend_factory made;
    made.name = "inprocess";
    made.capabilities = inprocess::capabilities;
    made.make_store = [] { return std::make_unique<testkit::tagged_store<inprocess>>(inprocess::config{}); };
    made.make_bounded_store = [](std::size_t capacity) {
        return std::make_unique<testkit::tagged_store<inprocess>>(inprocess::config{.capacity = capacity});
    };
    made.injected_clock = true;
    return made;
}

}  // namespace

SHOVE_CONFORMANCE(inprocess_factory());
