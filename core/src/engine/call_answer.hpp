#pragma once

#include <shove/detail/handler.hpp>

#include <exception>
#include <optional>

#include "../decide/settle_policy.hpp"

namespace shove::detail {

/// What a handler's answer, or what it threw, means for its message.
decide::ended ended_of(call_result answer);
decide::ended ended_of(const std::exception_ptr& thrown);

/// The outcome that a message's turn counts as; nothing: its handler was not called.
std::optional<outcome_kind> counted_outcome(const decide::ended& how) noexcept;

}  // namespace shove::detail
