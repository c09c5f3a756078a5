#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <system_error>

namespace shove {

using boost::system::error_code;

/// What went wrong, as a value that callers compare. The category's name is "shove".
/// New values may be added; treat an unknown one as not retryable.
enum class errc {
    ok = 0,
    invalid_argument,        ///< A value given by the caller breaks a rule; the detail names it.
    invalid_topology,        ///< A topology breaks a rule; the detail names topic, rule and remedy.
    topology_mismatch,       ///< The broker has the queue with other settings than the declared ones.
    unknown_queue,           ///< The queue was never declared on this broker.
    reserved_header,         ///< A header name that only shove may set.
    encode_failed,           ///< The codec could not encode the message.
    decode_failed,           ///< The codec could not decode the bytes; the detail gives the path.
    too_large,               ///< A size limit was passed; the detail names the limit.
    queue_full,              ///< No room within the deadline. Retryable.
    timed_out,               ///< A deadline passed; what was asked for may have happened or not.
    not_connected,           ///< The broker cannot be reached now. Retryable.
    connection_lost,         ///< The connection ended while waiting; the fate is unknown. Retryable.
    unroutable,              ///< The broker accepted no destination for the message.
    lease_lost,              ///< The delivery no longer belongs to this consumer.
    unsupported,             ///< The backend lacks the capability; the detail names it.
    closed,                  ///< The broker, publisher or group was closed.
    cancelled,               ///< The operation was cancelled before it began to have an effect.
    storage_full,            ///< The disk (or the broker's storage) is full. Retryable.
    storage_read_only,       ///< The store cannot be written.
    storage_busy,            ///< Another process held the store for too long. Retryable.
    storage_corrupt,         ///< The store's contents are damaged.
    version_mismatch,        ///< The store was written by a version that this one cannot read.
    capacity_exceeded,       ///< A limit on how much is kept is reached; the detail names it. Retryable.
    idempotency_conflict,    ///< The idempotency key is taken by a message of other content.
    unknown_subscription,    ///< The topic or the group was never subscribed.
    unknown_lease,           ///< The token was never given, was used, or its lease went to somebody else.
    lease_expired,           ///< The token came too late; its message was given back or dead-lettered.
    clock_out_of_range,      ///< The clock stands before 1970, or a time computed from it does not fit.
    configuration_conflict,  ///< The store was made with other limits, or in another profile.
    key_unavailable,         ///< What was sealed names a key that was not given.
    randomness_unavailable,  ///< The system gave no random bytes. Retryable.
    encryption_failed,       ///< The cipher failed; nothing was stored.
    authentication_failed,   ///< What was sealed was altered, is elsewhere than it belongs, or the key is wrong.
    unsupported_envelope,    ///< A wire envelope of a version that this one cannot read.
    invalid_envelope,        ///< The bytes are no canonical wire envelope.
    not_attempted,           ///< Not tried, because an earlier message of the same call failed.
    internal,                ///< A bug in shove.
};

/// The category of `errc`; its `message()` says what happened and what to do.
const boost::system::error_category& shove_category() noexcept;

inline error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), shove_category()};
}

/// True if the same call may succeed later without a change by the caller.
bool is_retryable(const error_code& code) noexcept;

/// A comparable code plus a text for people. The text may name queues, paths and limits; it
/// never holds payloads, header values or credentials.
struct error {
    error_code code;
    std::string detail;

    error() = default;
    error(errc c) : code(make_error_code(c)) {}
    error(errc c, std::string text) : code(make_error_code(c)), detail(std::move(text)) {}
    error(error_code c, std::string text = {}) : code(c), detail(std::move(text)) {}

    /// True if this is an error (not success).
    explicit operator bool() const noexcept { return code.failed(); }
    /// The detail, or the code's own message where there is none.
    std::string message() const { return detail.empty() ? code.message() : detail; }
    friend bool operator==(const error& e, errc c) noexcept { return e.code == make_error_code(c); }
};

/// Thrown by the blocking calls that have no `result` form.
class exception : public std::system_error {
public:
    explicit exception(error e);
    const error& cause() const noexcept { return cause_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    error cause_;
    std::string text_;
};

/// Found by `boost::system::result::value()`: throws `shove::exception`.
[[noreturn]] void throw_exception_from_error(const error& e, const boost::source_location& where);

template <class T>
using result = boost::system::result<T, error>;

}  // namespace shove

template <>
struct boost::system::is_error_code_enum<shove::errc> : std::true_type {};
