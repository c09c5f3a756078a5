#pragma once

#include <shove/broker.hpp>

#include <string_view>

namespace shove {

/// Opens a broker from a URL: `memory:`, `sqlite:relative.db`, `sqlite:///absolute/path.db`, …
/// Knows the backends that shove was built with; lives in the component `open`, which links them all.
/// To link fewer, use `open_with<sqlite>(url)`.
/// Throws `exception`: `invalid_argument` for the URL, else what the backend reports.
any_broker open(std::string_view url, broker_options options = {});

}  // namespace shove
