#include "management_certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <utility>

namespace shove::rabbitmq_test {

namespace {

struct freer {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(BIO* bytes) const { BIO_free(bytes); }
    void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freer>;
using certificate_ptr = std::unique_ptr<X509, freer>;

template <class Write>
std::string pem(Write write) {
    const std::unique_ptr<BIO, freer> bytes(BIO_new(BIO_s_mem()));
    write(bytes.get());
    char* first = nullptr;
    const auto size = BIO_get_mem_data(bytes.get(), &first);
    return {first, static_cast<std::size_t>(size)};
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, freer> made(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    if (!made || X509_add_ext(certificate, made.get(), -1) != 1) throw std::runtime_error("no extension: " + value);
}

certificate_ptr make_certificate(EVP_PKEY* key, const std::string& name, long serial) {
    certificate_ptr made(X509_new());
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_pubkey(made.get(), key);
    return made;
}

}  // namespace

struct authority::parts {
    key_ptr key{EVP_EC_gen("P-256")};
    certificate_ptr certificate = make_certificate(key.get(), "shove test authority", 1);
};

authority::authority() : parts_(std::make_unique<parts>()) {
    auto* const own = parts_->certificate.get();
    X509_set_issuer_name(own, X509_get_subject_name(own));
    extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
    extend(own, own, NID_key_usage, "critical,keyCertSign");
    X509_sign(own, parts_->key.get(), EVP_sha256());
}

authority::~authority() = default;

std::string authority::certificate() const {
    return pem([&](BIO* into) { PEM_write_bio_X509(into, parts_->certificate.get()); });
}

identity authority::issue(const std::string& names) const {
    const key_ptr key(EVP_EC_gen("P-256"));
    const auto made = make_certificate(key.get(), "shove test server", 2);
    X509_set_issuer_name(made.get(), X509_get_subject_name(parts_->certificate.get()));
    extend(made.get(), parts_->certificate.get(), NID_subject_alt_name, names);
    X509_sign(made.get(), parts_->key.get(), EVP_sha256());
    return {pem([&](BIO* into) { PEM_write_bio_PrivateKey(into, key.get(), nullptr, nullptr, 0, nullptr, nullptr); }),
            pem([&](BIO* into) { PEM_write_bio_X509(into, made.get()); })};
}

}  // namespace shove::rabbitmq_test
