#pragma once

#include <shove/testkit/backend_factory.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The conformance suite: what every backend must do, written once over the public API.
namespace shove::testkit {

class stage;

/// A capability by name, so that a skipped case can say what the backend lacks.
struct requirement {
    std::string_view name;
    bool (*met)(const backend_factory& factory);
};

/// One case. It throws, or fails GoogleTest assertions, where the backend does not conform.
struct conformance_case {
    std::string_view group;  ///< The theme: `publish`, `retry`, …
    std::string_view name;
    void (*run)(stage& on);
    std::vector<requirement> needs{};
};

/// All cases, in a fixed order.
const std::vector<conformance_case>& conformance_cases();

/// Registers every case with GoogleTest, named after factory, group and case. A case whose needs the backend does
/// not meet is skipped, naming the capability.
/// @return  Anything: so that it can initialise a variable of a namespace.
bool register_conformance(const backend_factory& factory);

}  // namespace shove::testkit

/// Instantiates the suite for a backend; at namespace scope, once in a test program.
#define SHOVE_CONFORMANCE(factory) \
    static const bool shove_conformance_registered = ::shove::testkit::register_conformance(factory)
