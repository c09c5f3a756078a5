#include "aes_gcm.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <limits>
#include <memory>

namespace shove::sqlite_backend::lease {

namespace {

constexpr int tag_size = 16;
constexpr std::size_t most = std::numeric_limits<int>::max() - tag_size;  // OpenSSL counts in int

struct free_context {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using context_ptr = std::unique_ptr<EVP_CIPHER_CTX, free_context>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text, std::size_t from = 0) {
    return reinterpret_cast<unsigned char*>(text.data()) + from;
}
const unsigned char* secret_of(const storage_key& key) {
    return reinterpret_cast<const unsigned char*>(key.secret().data());
}

}  // namespace

bool aes_gcm_seal(const storage_key& key, std::span<const unsigned char> nonce, std::string_view aad,
                  std::string_view plain, std::string& out) {
    if (plain.size() > most || aad.size() > most) return false;
    const context_ptr context(EVP_CIPHER_CTX_new());
    const auto before = out.size();
    out.resize(before + plain.size() + tag_size);
    int done = 0, last = 0;
    const bool sealed =
        context && EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, nullptr, nullptr) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(nonce.size()), nullptr) == 1 &&
        EVP_EncryptInit_ex(context.get(), nullptr, nullptr, secret_of(key), nonce.data()) == 1 &&
        EVP_EncryptUpdate(context.get(), nullptr, &done, bytes_of(aad), static_cast<int>(aad.size())) == 1 &&
        EVP_EncryptUpdate(context.get(), bytes_of(out, before), &done, bytes_of(plain),
                          static_cast<int>(plain.size())) == 1 &&
        EVP_EncryptFinal_ex(context.get(), bytes_of(out, before + static_cast<std::size_t>(done)), &last) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, tag_size, bytes_of(out, before + plain.size())) == 1;
    if (!sealed) out.resize(before);
    return sealed;
}

std::optional<std::string> aes_gcm_open(const storage_key& key, std::span<const unsigned char> nonce,
                                        std::string_view aad, std::string_view sealed) {
    if (sealed.size() < tag_size || sealed.size() > most || aad.size() > most) return std::nullopt;
    const auto cipher = sealed.substr(0, sealed.size() - tag_size);
    std::string tag(sealed.substr(cipher.size()));
    const context_ptr context(EVP_CIPHER_CTX_new());
    std::string plain(cipher.size(), '\0');
    int done = 0, last = 0;
    const bool opened =
        context && EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, nullptr, nullptr) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(nonce.size()), nullptr) == 1 &&
        EVP_DecryptInit_ex(context.get(), nullptr, nullptr, secret_of(key), nonce.data()) == 1 &&
        EVP_DecryptUpdate(context.get(), nullptr, &done, bytes_of(aad), static_cast<int>(aad.size())) == 1 &&
        EVP_DecryptUpdate(context.get(), bytes_of(plain), &done, bytes_of(cipher), static_cast<int>(cipher.size())) ==
            1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, bytes_of(tag)) == 1 &&
        EVP_DecryptFinal_ex(context.get(), bytes_of(plain, static_cast<std::size_t>(done)), &last) == 1;
    if (opened) return plain;
    OPENSSL_cleanse(plain.data(), plain.size());  // it was not authentic: nobody may see it
    return std::nullopt;
}

}  // namespace shove::sqlite_backend::lease
