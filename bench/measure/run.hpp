#pragma once

#include "plan.hpp"
#include "report.hpp"

namespace shove::bench {

/// Carries out one plan. Blocks.
/// @par Errors  Throws what opening, declaring and publishing throw. A consumer's failure stands in the report.
report run(const plan& what);

}  // namespace shove::bench
