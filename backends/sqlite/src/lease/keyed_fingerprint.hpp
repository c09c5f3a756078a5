#pragma once

#include "sealed_record.hpp"

#include <shove/spi/lease_port.hpp>

#include <array>

namespace shove::sqlite_backend::lease {

/// Of the content of a publish, to tell a repetition from a conflict: HMAC-SHA-256 of the plain fingerprint under a
/// random key of the file. Who has the file but not its keys cannot try contents against it; two files show nothing of
/// their having the same. The key is kept sealed; who rotates seals it anew, so that fingerprints stay comparable.
class fingerprint_key {
public:
    static constexpr std::size_t bytes = 32;

    /// A new one. @return `errc::randomness_unavailable`.
    static result<fingerprint_key> make(const random_source& random);
    /// What `seal` gave. Errors as `open_record`; `errc::storage_corrupt`: it is no such key.
    static result<fingerprint_key> open(const keyring& keys, std::string_view name_space, std::string_view blob);

    fingerprint_key(const fingerprint_key&) = default;
    fingerprint_key& operator=(const fingerprint_key&) = default;
    ~fingerprint_key();

    /// Under the ring's first key. Errors as `seal_record`.
    result<std::string> seal(const keyring& keys, std::string_view name_space, const random_source& random) const;

    /// @param plain  The SHA-256 of the content. @return `errc::encryption_failed`.
    result<spi::fingerprint> of(const spi::fingerprint& plain) const;

private:
    fingerprint_key() = default;
    std::array<unsigned char, bytes> secret_{};
};

}  // namespace shove::sqlite_backend::lease
