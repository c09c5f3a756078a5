#include "sealed_record.hpp"

#include "aes_gcm.hpp"

#include <openssl/rand.h>

#include <array>

namespace shove::sqlite_backend::lease {

namespace {

constexpr std::string_view magic = "RLMSGDB1";
constexpr std::string_view profile = "rullst.messaging.sqlite.aes-256-gcm.v1";

void put_u32(std::string& out, std::size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        out += static_cast<char>(value >> shift & 0xff);
}

void put_field(std::string& out, std::string_view bytes) {
    put_u32(out, bytes.size());
    out += bytes;
}

void put_field(std::string& out, std::int64_t value) {
    put_u32(out, 8);
    for (int shift = 56; shift >= 0; shift -= 8)
        out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xff);
}

std::string aad_of(std::string_view key_id, const record_identity& of) {
    std::string aad;
    aad.reserve(128 + of.name_space.size() + of.topic.size() + of.event_kind.size() + of.content_type.size() +
                of.id.size());
    put_field(aad, profile);
    put_field(aad, key_id);
    put_field(aad, of.name_space);
    put_field(aad, of.topic);
    put_field(aad, of.sequence);
    put_field(aad, of.id);
    put_field(aad, of.event_kind);
    put_field(aad, of.content_type);
    put_field(aad, of.published_at_ms);
    return aad;
}

// The parts of a blob; all empty if it is malformed.
struct blob_parts {
    std::string_view key_id, nonce, sealed;
};

blob_parts split(std::string_view blob) {
    if (blob.size() <= magic.size() || blob.substr(0, magic.size()) != magic) return {};
    const std::size_t id_size = static_cast<unsigned char>(blob[magic.size()]);
    blob.remove_prefix(magic.size() + 1);
    if (blob.size() < id_size + nonce_bytes + tag_bytes || !storage_key::is_id(blob.substr(0, id_size))) return {};
    return {blob.substr(0, id_size), blob.substr(id_size, nonce_bytes), blob.substr(id_size + nonce_bytes)};
}

error not_authentic(const record_identity& of) {
    return {errc::authentication_failed,
            "a sealed record of topic '" + std::string(of.topic) + "' (" + std::string(of.id) +
                ") is not what was sealed there: its bytes were changed or moved, or the key of "
                "that id has other bytes"};
}

}  // namespace

random_source system_random() {
    return [](std::span<unsigned char> out) { return RAND_bytes(out.data(), static_cast<int>(out.size())) == 1; };
}

std::string_view sealed_by(std::string_view blob) {
    return split(blob).key_id;
}

result<std::string> seal_record(const keyring& keys, const record_identity& of, std::string_view clear,
                                const random_source& random) {
    const auto& key = keys.primary();
    std::array<unsigned char, nonce_bytes> nonce{};
    if (!random(nonce))
        return error(errc::randomness_unavailable,
                     "the operating system gives no random bytes for a nonce; nothing was stored");
    std::string blob;
    blob.reserve(magic.size() + 1 + key.id().size() + nonce_bytes + clear.size() + tag_bytes);
    blob += magic;
    blob += static_cast<char>(key.id().size());
    blob += key.id();
    blob.append(reinterpret_cast<const char*>(nonce.data()), nonce.size());
    if (!aes_gcm_seal(key, nonce, aad_of(key.id(), of), clear, blob))
        return error(errc::encryption_failed,
                     "the cipher failed to seal " + std::to_string(clear.size()) + " bytes; nothing was stored");
    return blob;
}

result<std::string> open_record(const keyring& keys, const record_identity& of, std::string_view blob) {
    const auto parts = split(blob);
    if (parts.key_id.empty()) return not_authentic(of);
    const auto* key = keys.find(parts.key_id);
    if (key == nullptr)
        return error(errc::key_unavailable, "a record of topic '" + std::string(of.topic) + "' is sealed by the key '" +
                                                std::string(parts.key_id) +
                                                "', which is not in the keyring; add it after the first");
    const auto* nonce = reinterpret_cast<const unsigned char*>(parts.nonce.data());
    auto plain = aes_gcm_open(*key, {nonce, nonce_bytes}, aad_of(key->id(), of), parts.sealed);
    if (!plain) return not_authentic(of);
    return std::move(*plain);
}

}  // namespace shove::sqlite_backend::lease
