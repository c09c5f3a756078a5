#pragma once

#include <shove/storage_key.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shove::sqlite_backend::lease {

/// AES-256-GCM of OpenSSL. The ciphertext with its tag of 16 bytes is appended to `out`.
/// @return False if OpenSSL fails; `out` is then as it was.
bool aes_gcm_seal(const storage_key& key, std::span<const unsigned char> nonce, std::string_view aad,
                  std::string_view plain, std::string& out);

/// What was sealed, if the tag is right.
std::optional<std::string> aes_gcm_open(const storage_key& key, std::span<const unsigned char> nonce,
                                        std::string_view aad, std::string_view sealed);

}  // namespace shove::sqlite_backend::lease
