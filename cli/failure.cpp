#include "failure.hpp"

#include <array>

namespace shove::cli {

std::string_view word_for(const error_code& code) noexcept {
    static constexpr std::array<std::string_view, 38> words{"ok",
                                                            "invalid_argument",
                                                            "invalid_topology",
                                                            "topology_mismatch",
                                                            "unknown_queue",
                                                            "reserved_header",
                                                            "encode_failed",
                                                            "decode_failed",
                                                            "too_large",
                                                            "queue_full",
                                                            "timed_out",
                                                            "not_connected",
                                                            "connection_lost",
                                                            "unroutable",
                                                            "lease_lost",
                                                            "unsupported",
                                                            "closed",
                                                            "cancelled",
                                                            "storage_full",
                                                            "storage_read_only",
                                                            "storage_busy",
                                                            "storage_corrupt",
                                                            "version_mismatch",
                                                            "capacity_exceeded",
                                                            "idempotency_conflict",
                                                            "unknown_subscription",
                                                            "unknown_lease",
                                                            "lease_expired",
                                                            "clock_out_of_range",
                                                            "configuration_conflict",
                                                            "key_unavailable",
                                                            "randomness_unavailable",
                                                            "encryption_failed",
                                                            "authentication_failed",
                                                            "unsupported_envelope",
                                                            "invalid_envelope",
                                                            "not_attempted",
                                                            "internal"};
    static_assert(static_cast<std::size_t>(errc::internal) + 1 == words.size());
    static_assert(static_cast<std::size_t>(errc::closed) == 16);
    const auto place = static_cast<std::size_t>(code.value());
    return code.category() == shove_category() && place < words.size() ? words[place] : "other";
}

}  // namespace shove::cli
