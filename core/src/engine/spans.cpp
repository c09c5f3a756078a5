#include "spans.hpp"

#include <array>
#include <exception>

#include "broker_core.hpp"

namespace shove::detail {
namespace {

/// By `span_kind`; the last word of a span's name, and OpenTelemetry's name of the operation.
constexpr std::array<std::string_view, 4> verbs{"publish", "receive", "handle", "settle"};
constexpr std::array<std::string_view, 4> operations{"send", "receive", "process", "settle"};

}  // namespace

std::optional<trace_context> trace_of(headers_view headers) {
    auto read = read_trace(headers);
    return read ? std::move(*read) : std::nullopt;
}

std::unique_ptr<span> start_span(const broker_core& core, span_kind kind, const std::string& queue,
                                 const trace_context* parent, const std::vector<trace_context>& links,
                                 std::size_t messages) {
    if (!core.tracer()) return nullptr;
    const auto which = static_cast<std::size_t>(kind);
    const auto name = queue + " " + std::string(verbs.at(which));
    const std::array<event_field, 4> attributes{{
        {"messaging.system", core.capabilities().backend},
        {"messaging.destination.name", queue},
        {"messaging.operation.type", operations.at(which)},
        {"messaging.batch.message_count", static_cast<std::int64_t>(messages)},
    }};
    try {
        return core.tracer()->start({kind, name, parent, links, attributes});
    } catch (const std::exception& e) {
        core.tell(happening::tracer_failed, std::string("the tracer threw: ") + e.what(), {{"error", e.what()}});
    } catch (...) {
        core.tell(happening::tracer_failed, "the tracer threw", {{"error", ""}});
    }
    return nullptr;
}

}  // namespace shove::detail
