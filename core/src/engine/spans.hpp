#pragma once

#include <shove/trace.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shove::detail {

class broker_core;

/// What a message says of its trace; nothing if it says none, or none that can be read.
std::optional<trace_context> trace_of(headers_view headers);

/// Begins a span of the broker's tracer about a queue. Null without a tracer, or where it throws, which is told.
std::unique_ptr<span> start_span(const broker_core& core, span_kind kind, const std::string& queue,
                                 const trace_context* parent, const std::vector<trace_context>& links,
                                 std::size_t messages);

}  // namespace shove::detail
