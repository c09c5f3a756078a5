#pragma once

#include <shove/error.hpp>
#include <shove/spi/lease_port.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shove::sqlite_backend::lease {

/// Which row a record belongs to. What is sealed is bound to it: in another row's place it does not open.
struct record_identity {
    std::string_view name_space;
    std::string_view topic;
    std::int64_t sequence = 0;
    std::string_view id;  ///< As text, `msg_…`.
    std::string_view event_kind;
    std::string_view content_type;
    std::int64_t published_at_ms = 0;
};

/// A record as it is stored.
struct sealed {
    std::string blob;
    std::string key{};  ///< The id of the key that sealed it; empty: none did.
};

/// What a namespace keeps of its profile.
struct sealer_state {
    std::string profile{};          ///< `plaintext-v1`, `aes-256-gcm-v1`.
    std::string probe{};            ///< Proves that a key is the right one; empty: plain.
    std::string fingerprint_key{};  ///< Sealed; empty: plain.

    friend bool operator==(const sealer_state&, const sealer_state&) = default;
};

/// A stored record, for a proof that a key opens it.
struct sealed_sample {
    record_identity of;
    std::string_view blob;
};

/// Stands between a namespace's records and its file: what the store writes goes through `seal`, what it reads through
/// `open`. A record's clear bytes are the headers as JSON, after their length in 4 bytes (big-endian), then the payload
/// (`record.hpp`).
/// @par Thread safety  None: it belongs to the thread that writes. It must not block.
/// @par Errors  `errc::authentication_failed`, `key_unavailable`, `encryption_failed`, `randomness_unavailable`. No
///   text holds a key, a payload or a header.
class sealer {
public:
    virtual ~sealer() = default;

    /// Called within the transaction that opens a namespace, before all else.
    /// @param stored   What is there; nothing: the namespace is new.
    /// @param samples  One record for each key that sealed any.
    /// @return  What is to be kept from now on. Errors beside those above: `errc::configuration_conflict` where the
    ///          profile is another one.
    virtual result<sealer_state> attach(const std::optional<sealer_state>& stored,
                                        std::span<const sealed_sample> samples) = 0;
    virtual result<sealed> seal(const record_identity& of, std::string clear) = 0;
    virtual result<std::string> open(const record_identity& of, std::string_view blob) = 0;
    /// What is kept of a content's SHA-256, to compare with: itself, or an HMAC under the file's own key.
    virtual result<spi::fingerprint> fingerprint(const spi::fingerprint& content) = 0;
};

inline constexpr std::string_view plain_profile = "plaintext-v1";
/// Keeps records as they are: that profile.
std::unique_ptr<sealer> make_plain_sealer();

}  // namespace shove::sqlite_backend::lease
