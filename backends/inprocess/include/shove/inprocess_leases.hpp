#pragma once

#include <shove/lease.hpp>

namespace shove {

/// Leases in this process's memory: the whole contract of `lease_broker`, gone with its last copy. For tests, and for
/// work that may be lost.
/// @par Complexity  A publish costs the same whatever is retained and however many groups there are. Groups share a
///                  message's bytes.
/// @par Errors      `errc::invalid_argument`; the detail names the option.
result<lease_broker> open_inprocess_leases(lease_options options = {});

}  // namespace shove
