#include <shove/detail/lease_rules.hpp>

#include <openssl/evp.h>

#include <memory>

namespace shove::detail {
namespace {

/// SHA-256 over fields, each after its length. The algorithm is fetched once; a context is one allocation.
class field_hash {
public:
    field_hash() : context_(EVP_MD_CTX_new()) {
        ok_ = context_ && EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr) == 1;
    }
    void raw(std::string_view bytes) { ok_ = ok_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1; }
    void field(std::string_view bytes) {
        std::array<char, 8> length{};
        for (std::size_t i = 0; i < length.size(); ++i)
            length[i] = static_cast<char>(static_cast<std::uint64_t>(bytes.size()) >> (56 - 8 * i));
        raw({length.data(), length.size()});
        raw(bytes);
    }
    spi::fingerprint end() {
        spi::fingerprint digest{};
        ok_ = ok_ && EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1;
        if (!ok_) throw exception(error(errc::internal, "OpenSSL has no SHA-256; check its configuration"));
        return digest;
    }

private:
    struct context_end {
        void operator()(EVP_MD_CTX* c) const noexcept { EVP_MD_CTX_free(c); }
    };
    struct algorithm_end {
        void operator()(EVP_MD* m) const noexcept { EVP_MD_free(m); }
    };
    static const EVP_MD* algorithm() {
        static const std::unique_ptr<EVP_MD, algorithm_end> fetched(EVP_MD_fetch(nullptr, "SHA256", nullptr));
        return fetched.get();
    }

    std::unique_ptr<EVP_MD_CTX, context_end> context_;
    bool ok_ = false;
};

}  // namespace

spi::fingerprint fingerprint_of(const lease_message& message) {
    // The format is shared with rullst-messaging, byte for byte.
    field_hash hash;
    hash.raw(std::string_view("rullst.messaging.publish.v1\0", 28));
    hash.field(message.topic);
    hash.field(message.event_kind);
    hash.field(message.content_type);
    for (const auto& header : message.headers) {
        hash.field(header.name);
        hash.field(header.value.bytes());
    }
    hash.field(message.payload);
    return hash.end();
}

std::int64_t key_hash(std::string_view topic, std::string_view key) {
    field_hash hash;
    hash.field(topic);
    hash.field(key);
    const auto digest = hash.end();
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < sizeof first; ++i)
        first = first << 8U | std::to_integer<std::uint64_t>(digest[i]);
    return static_cast<std::int64_t>(first);
}

}  // namespace shove::detail
