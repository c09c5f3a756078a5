#pragma once

#include <shove/detail/handler.hpp>

#include <exception>

#include "../decide/settle_policy.hpp"

namespace shove::detail {

/// What a handler's answer, or what it threw, means for its message.
decide::ended ended_of(call_result answer);
decide::ended ended_of(const std::exception_ptr& thrown);

/// Whether the handler was called, by how its message's turn ended.
bool was_called(const decide::ended& how) noexcept;

}  // namespace shove::detail
