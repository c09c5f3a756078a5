#include <shove/storage_key.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace shove {

namespace {

constexpr std::string_view remedy = "; a key is ID:SECRET, the secret 64 hexadecimal digits or 44 characters of base64";

using secret_array = std::array<std::byte, storage_key::secret_bytes>;

constexpr std::size_t hex_characters = 64, base64_characters = 44;

unsigned char* bytes_of(secret_array& secret) {
    return reinterpret_cast<unsigned char*>(secret.data());
}

bool read_hex(const std::string& digits, secret_array& out) {
    std::size_t size = 0;
    return OPENSSL_hexstr2buf_ex(bytes_of(out), out.size(), &size, digits.c_str(), '\0') == 1 && size == out.size();
}

bool read_base64(const std::string& digits, secret_array& out) {
    std::array<unsigned char, base64_characters + 1> decoded{}, again{};
    const auto* text = reinterpret_cast<const unsigned char*>(digits.data());
    const bool read = EVP_DecodeBlock(decoded.data(), text, base64_characters) == 33;  // with the padding's byte
    std::copy_n(decoded.begin(), out.size(), bytes_of(out));
    // It takes more texts than one for the same bytes; this is the one that is written.
    const bool same = EVP_EncodeBlock(again.data(), bytes_of(out), out.size()) == base64_characters &&
                      std::equal(digits.begin(), digits.end(), again.begin());
    OPENSSL_cleanse(decoded.data(), decoded.size());
    OPENSSL_cleanse(again.data(), again.size());
    return read && same;
}

error invalid(std::string text) {
    return {errc::invalid_argument, std::move(text)};
}

std::string_view trimmed(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
        line.remove_prefix(1);
    return line;
}

// A text with secrets in it, which does not outlive its use.
struct secret_text {
    std::string bytes;
    secret_text() = default;
    explicit secret_text(std::string_view text) : bytes(text) {}
    secret_text(const secret_text&) = delete;
    secret_text& operator=(const secret_text&) = delete;
    ~secret_text() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

}  // namespace

storage_key::~storage_key() {
    OPENSSL_cleanse(secret_.data(), secret_.size());
}

bool storage_key::is_id(std::string_view text) noexcept {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !text.empty() && text.size() <= max_id_bytes && std::all_of(text.begin(), text.end(), fits);
}

result<storage_key> storage_key::make(std::string id, std::span<const std::byte> secret) {
    // What is no id may be a secret in the wrong place: it is not shown.
    if (!is_id(id))
        return invalid("the id of a storage key has 1 to 64 of A-Z a-z 0-9 - _ . ; this one has " +
                       std::to_string(id.size()) + " bytes, or others among them");
    if (secret.size() != secret_bytes)
        return invalid("storage key '" + id + "': its secret has " + std::to_string(secret.size()) +
                       " bytes, not 32; make one with: openssl rand -hex 32");
    storage_key key;
    key.id_ = std::move(id);
    std::copy(secret.begin(), secret.end(), key.secret_.begin());
    return key;
}

result<storage_key> storage_key::parse(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == text.npos) return invalid("a storage key has no ':'" + std::string(remedy));
    secret_text digits(text.substr(colon + 1));
    storage_key key;  // its memory is wiped, whatever becomes of it
    const bool read = digits.bytes.size() == hex_characters      ? read_hex(digits.bytes, key.secret_)
                      : digits.bytes.size() == base64_characters ? read_base64(digits.bytes, key.secret_)
                                                                 : false;
    auto made = make(std::string(text.substr(0, colon)), key.secret_);
    if (made && !read)  // what stands before the colon may be the secret: it is not shown
        return invalid("a storage key's secret of " + std::to_string(digits.bytes.size()) + " characters is none" +
                       std::string(remedy));
    return made;
}

result<keyring> keyring::make(std::vector<storage_key> keys) {
    if (keys.empty() || keys.size() > max_keys)
        return invalid("a keyring has 1 to 8 storage keys, not " + std::to_string(keys.size()));
    for (auto key = keys.begin(); key != keys.end(); ++key)
        if (std::any_of(keys.begin(), key, [&](const auto& other) { return other.id() == key->id(); }))
            return invalid("storage key '" + key->id() + "' is twice in the keyring");
    return keyring(std::move(keys));
}

result<keyring> keyring::parse(std::string_view text) {
    std::vector<storage_key> keys;
    keys.reserve(max_keys);
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        auto key = storage_key::parse(line);
        if (!key) return invalid("line " + std::to_string(number) + ": " + key.error().message());
        if (keys.size() == max_keys)
            return invalid("line " + std::to_string(number) + ": a keyring has at most 8 storage keys");
        keys.push_back(std::move(*key));
    }
    return make(std::move(keys));
}

result<keyring> keyring::read(const std::filesystem::path& file) {
    struct stat info {};
    const auto failed = [&](const std::string& why) { return invalid("keyring " + file.string() + ": " + why); };
    if (::stat(file.c_str(), &info) != 0) return failed(std::generic_category().message(errno));
    if (!S_ISREG(info.st_mode)) return failed("it is not a regular file");
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) return failed("others than its owner may use it; chmod 600 it");
    if (info.st_size > 64 * 1024)
        return failed("it has " + std::to_string(info.st_size) + " bytes; a keyring has at most 65536");
    secret_text text;
    text.bytes.resize(static_cast<std::size_t>(info.st_size));
    std::ifstream in(file, std::ios::binary);
    in.rdbuf()->pubsetbuf(nullptr, 0);  // no second copy of the secrets
    if (!in.read(text.bytes.data(), static_cast<std::streamsize>(text.bytes.size())))
        return failed("it cannot be read");
    auto ring = parse(text.bytes);
    if (!ring) return failed(ring.error().message());
    return ring;
}

const storage_key* keyring::find(std::string_view id) const noexcept {
    const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const auto& key) { return key.id() == id; });
    return found == keys_.end() ? nullptr : &*found;
}

}  // namespace shove
