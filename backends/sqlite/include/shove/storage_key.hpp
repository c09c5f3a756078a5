#pragma once

#include <shove/error.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shove {

/// A secret of 32 bytes that seals what a store keeps (AES-256-GCM), and its name. The secret is used as it is: no
/// passphrase is stretched to one. It is never printed, and its memory is wiped when the key goes.
/// @par Thread safety  As a container.
class storage_key {
public:
    static constexpr std::size_t secret_bytes = 32;
    static constexpr std::size_t max_id_bytes = 64;

    /// True for 1 to 64 of A–Z a–z 0–9 - _ .
    static bool is_id(std::string_view text) noexcept;
    /// @param id  1 to 64 of A–Z a–z 0–9 - _ . ; it stands in the file, in clear.
    /// @return `errc::invalid_argument` unless the id is one and the secret has 32 bytes.
    static result<storage_key> make(std::string id, std::span<const std::byte> secret);
    /// From `ID:SECRET`, the secret as 64 hexadecimal digits or 44 characters of base64.
    static result<storage_key> parse(std::string_view text);

    storage_key(const storage_key&) = default;
    storage_key& operator=(const storage_key&) = default;
    ~storage_key();

    const std::string& id() const noexcept { return id_; }
    /// For the cipher. Do not keep a copy.
    std::span<const std::byte, secret_bytes> secret() const noexcept { return secret_; }

private:
    storage_key() = default;
    std::string id_;
    std::array<std::byte, secret_bytes> secret_{};
};

/// The keys of a store: the first seals, all open. To rotate, put the new key first and keep the old ones until
/// nothing is sealed by them any more.
/// @par Thread safety  As a container.
class keyring {
public:
    static constexpr std::size_t max_keys = 8;

    /// @return `errc::invalid_argument` unless there are 1 to 8 keys with different ids.
    static result<keyring> make(std::vector<storage_key> keys);
    /// One key a line (`storage_key::parse`); empty lines and lines that begin with `#` are skipped.
    static result<keyring> parse(std::string_view text);
    /// `parse` of a file, which only its owner may read (mode 600 or 400). Blocks.
    static result<keyring> read(const std::filesystem::path& file);

    const storage_key& primary() const noexcept { return keys_.front(); }
    /// Null: none of that name.
    const storage_key* find(std::string_view id) const noexcept;
    std::span<const storage_key> keys() const noexcept { return keys_; }

private:
    explicit keyring(std::vector<storage_key> keys) : keys_(std::move(keys)) {}
    std::vector<storage_key> keys_;
};

}  // namespace shove
