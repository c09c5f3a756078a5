#pragma once

#include <shove/error.hpp>
#include <shove/event.hpp>
#include <shove/headers.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shove {

/// Where in a trace something happened: the W3C Trace Context, version 00, as it travels in the headers
/// `traceparent` and `tracestate`.
struct trace_context {
    std::array<std::uint8_t, 16> trace_id{};  ///< Not all zero.
    std::array<std::uint8_t, 8> span_id{};    ///< Not all zero.
    std::uint8_t flags = 0;                   ///< Bit 0: sampled.
    std::string state{};                      ///< `tracestate`; empty: none.

    /// The `traceparent` header, 55 bytes.
    std::string parent() const;
    /// The trace's id in hexadecimal, 32 bytes.
    std::string trace_id_text() const;

    friend bool operator==(const trace_context&, const trace_context&) = default;
};

/// Reads both headers' texts; an empty `state` means none.
/// Error: `errc::invalid_argument` that says which of the two is wrong, and never what it holds. Stricter than the
/// W3C where that cannot be told apart from an attack: see docs/guide/tracing.md.
result<trace_context> parse_trace(std::string_view parent, std::string_view state = {});

/// The context that a message carries; nothing if it has none.
/// Error: as `parse_trace`; also a header that is there twice, or is no text, or a `tracestate` alone.
result<std::optional<trace_context>> read_trace(headers_view headers);

/// Puts a context into headers, in place of what was there.
void write_trace(headers& into, const trace_context& context);

enum class span_kind : std::uint8_t { publish, receive, handle, settle };

/// How a span begins.
struct span_start {
    span_kind kind = span_kind::handle;
    std::string_view name;                      ///< `orders handle`, …
    const trace_context* parent = nullptr;      ///< Null: a trace of its own.
    std::span<const trace_context> links{};     ///< Work that led to this one without waiting for it.
    std::span<const event_field> attributes{};  ///< `messaging.destination.name`, …
};

/// A piece of work in a trace. Its destructor ends it.
/// @par Thread safety  One thread at a time; it may end on another thread than it began.
class span {
public:
    virtual ~span() = default;
    /// Where work that this one leads to belongs.
    virtual trace_context context() const = 0;
    /// Says that it failed. Never given a payload or a header's value.
    virtual void fail(std::string_view why) = 0;
};

/// Makes spans: the bridge to OpenTelemetry or whatever keeps traces. Give it to `broker_options::tracer`.
/// @par Thread safety  Called from several threads. It must not block; what it throws is told as an event, and the
///   work goes on without a span.
class tracer {
public:
    virtual ~tracer() = default;
    virtual std::unique_ptr<span> start(const span_start& what) = 0;
};

}  // namespace shove
