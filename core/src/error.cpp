#include <shove/error.hpp>

namespace shove {
namespace {

struct entry {
    errc code;
    const char* text;
    bool retryable;
};

constexpr entry table[] = {
    {errc::ok, "success", false},
    {errc::invalid_argument, "a value breaks a rule", false},
    {errc::invalid_topology, "the topology breaks a rule", false},
    {errc::topology_mismatch, "the queue exists with other settings", false},
    {errc::unknown_queue, "the queue is not declared on this broker; declare its topic first", false},
    {errc::reserved_header, "the header name is reserved for shove", false},
    {errc::encode_failed, "the message could not be encoded", false},
    {errc::decode_failed, "the bytes could not be decoded", false},
    {errc::too_large, "a size limit was passed", false},
    {errc::queue_full, "the queue is full; consume from it, raise its capacity or wait longer", true},
    {errc::timed_out, "the deadline passed; the operation may have happened or not", true},
    {errc::not_connected, "the broker cannot be reached", true},
    {errc::connection_lost, "the connection was lost while waiting; the fate is unknown", true},
    {errc::unroutable, "the broker has no destination for the message", false},
    {errc::lease_lost, "the delivery no longer belongs to this consumer", false},
    {errc::unsupported, "the backend lacks this capability", false},
    {errc::closed, "already closed", false},
    {errc::cancelled, "cancelled", false},
    {errc::storage_full, "the storage is full; free some space", true},
    {errc::storage_read_only, "the storage is read-only; check its permissions", false},
    {errc::storage_busy, "another process held the storage for too long", true},
    {errc::storage_corrupt, "the storage is damaged", false},
    {errc::version_mismatch, "the storage was written by another version", false},
    {errc::capacity_exceeded, "a limit on how much is kept is reached; purge what is finished, or raise it", true},
    {errc::idempotency_conflict, "the idempotency key is taken by a message of other content", false},
    {errc::unknown_subscription, "the topic or the group was never subscribed; subscribe first", false},
    {errc::unknown_lease, "the lease token was never given, was used, or its lease went to somebody else", false},
    {errc::lease_expired, "the lease has ended; its message was given back or dead-lettered", false},
    {errc::clock_out_of_range, "the clock stands before 1970, or a time computed from it does not fit", false},
    {errc::configuration_conflict, "the store was made with other limits, or in another profile", false},
    {errc::key_unavailable, "what was sealed names a key that was not given", false},
    {errc::randomness_unavailable, "the system gave no random bytes", true},
    {errc::encryption_failed, "the cipher failed; nothing was stored", false},
    {errc::authentication_failed, "what was sealed was altered or moved, or the key is wrong", false},
    {errc::unsupported_envelope, "the wire envelope's version cannot be read", false},
    {errc::invalid_envelope, "the bytes are no canonical wire envelope", false},
    {errc::not_attempted, "not attempted, because an earlier message of the call failed", true},
    {errc::internal, "internal error; please report it", false},
};

const entry& find(int value) noexcept {
    for (const auto& e : table) {
        if (static_cast<int>(e.code) == value) return e;
    }
    return table[sizeof table / sizeof table[0] - 1];
}

class category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "shove"; }
    std::string message(int value) const override { return find(value).text; }
};

}  // namespace

const boost::system::error_category& shove_category() noexcept {
    static const category instance;
    return instance;
}

bool is_retryable(const error_code& code) noexcept {
    return code.category() == shove_category() && find(code.value()).retryable;
}

exception::exception(error e)
    : std::system_error(std::error_code(e.code)), cause_(std::move(e)), text_(cause_.message()) {}

void throw_exception_from_error(const error& e, const boost::source_location&) {
    throw exception(e);
}

}  // namespace shove
