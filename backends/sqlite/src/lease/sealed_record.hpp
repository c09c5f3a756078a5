#pragma once

#include "sealer.hpp"

#include <shove/error.hpp>
#include <shove/storage_key.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

/// How a record is sealed in an encrypted store, byte for byte as rullst-messaging does it (its profile
/// `aes-256-gcm-v1`): AES-256-GCM, a random nonce of 12 bytes a record, a tag of 16. The sealed blob is
///
///     "RLMSGDB1" · 1 byte length of the key's id · key id · nonce · ciphertext · tag
///
/// and the tag also covers where the record belongs, so that no blob passes for another's. Random nonces bear 2^32
/// records under one key (NIST SP 800-38D, 8.3): rotate before.
namespace shove::sqlite_backend::lease {

/// Fills the bytes, or says that it cannot.
using random_source = std::function<bool(std::span<unsigned char>)>;
/// Of the operating system, through OpenSSL.
random_source system_random();

constexpr std::size_t nonce_bytes = 12, tag_bytes = 16;

/// Seals under the primary key.
/// @return `errc::randomness_unavailable` or `errc::encryption_failed`.
result<std::string> seal_record(const keyring& keys, const record_identity& of, std::string_view clear,
                                const random_source& random);

/// @return `errc::authentication_failed`: other key bytes, a changed, moved or malformed blob.
///         `errc::key_unavailable`: its key is not in the ring; the detail names it.
result<std::string> open_record(const keyring& keys, const record_identity& of, std::string_view blob);

/// The id of the key that a blob names, if it is well-formed; else empty.
std::string_view sealed_by(std::string_view blob);

}  // namespace shove::sqlite_backend::lease
