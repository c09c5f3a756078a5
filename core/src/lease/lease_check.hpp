#pragma once

#include <shove/error.hpp>
#include <shove/lease_message.hpp>
#include <shove/lease_options.hpp>

#include <string_view>
#include <vector>

/// The grammar of the lease contract. Pure; each gives the first breach, or no error.
namespace shove::detail {

error check_limits(const lease_limits& limits);
/// A namespace, a group, a consumer or an event kind; `what` names it in the error.
error check_name(std::string_view what, std::string_view value);
error check_topic(std::string_view value);
error check_code(std::string_view value);
error check_content_type(std::string_view value);
/// All but the rules of trace headers; puts them in order of their names.
error check_headers(std::vector<header>& headers);
/// All of a message; puts its headers in order of their names.
error check_message(lease_message& message, const lease_limits& limits);
error check_request(const lease_request& what);
error check_settlement(const lease_settlement& what);
error check_dead_query(const lease_dead_query& what);
error check_redrive(const lease_redrive& what);
error check_purge(std::string_view topic, std::size_t limit);
/// A count between bounds.
error check_range(std::string_view what, std::uint64_t value, std::uint64_t least, std::uint64_t most);

}  // namespace shove::detail
