#include "sealing_sealer.hpp"

#include "keyed_fingerprint.hpp"
#include "profile_probe.hpp"

#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

constexpr std::string_view profile = "aes-256-gcm-v1";

class sealing_sealer final : public sealer {
public:
    sealing_sealer(keyring keys, std::string name_space, random_source random)
        : keys_(std::move(keys)), name_space_(std::move(name_space)), random_(std::move(random)) {}

    result<sealer_state> attach(const std::optional<sealer_state>& stored,
                                std::span<const sealed_sample> samples) override {
        if (!stored) return begin();
        if (stored->profile != profile)
            return error(errc::configuration_conflict, "the namespace is kept in the profile '" + stored->profile +
                                                           "', not sealed; open it without keys, or use another one");
        if (auto failed = check_probe(keys_, name_space_, stored->probe)) return failed;
        for (const auto& sample : samples)
            if (auto opened = open_record(keys_, sample.of, sample.blob); !opened) return opened.error();
        auto key = fingerprint_key::open(keys_, name_space_, stored->fingerprint_key);
        if (!key) return key.error();
        fingerprints_ = *key;
        const auto& primary = keys_.primary().id();
        if (sealed_by(stored->probe) == primary && sealed_by(stored->fingerprint_key) == primary) return *stored;
        return state();
    }

    result<sealed> seal(const record_identity& of, std::string clear) override {
        auto blob = seal_record(keys_, of, clear, random_);
        if (!blob) return blob.error();
        return sealed{std::move(*blob), keys_.primary().id()};
    }

    result<std::string> open(const record_identity& of, std::string_view blob) override {
        return open_record(keys_, of, blob);
    }

    result<spi::fingerprint> fingerprint(const spi::fingerprint& content) override {
        return fingerprints_->of(content);
    }

private:
    result<sealer_state> begin() {
        auto key = fingerprint_key::make(random_);
        if (!key) return key.error();
        fingerprints_ = *key;
        return state();
    }

    // What is kept of the profile, sealed under the primary key.
    result<sealer_state> state() const {
        auto probe = seal_probe(keys_, name_space_, random_);
        if (!probe) return probe.error();
        auto key = fingerprints_->seal(keys_, name_space_, random_);
        if (!key) return key.error();
        return sealer_state{std::string(profile), std::move(*probe), std::move(*key)};
    }

    keyring keys_;
    std::string name_space_;
    random_source random_;
    std::optional<fingerprint_key> fingerprints_;  // from `attach` on
};

}  // namespace

std::unique_ptr<sealer> make_sealing_sealer(keyring keys, std::string name_space, random_source random) {
    return std::make_unique<sealing_sealer>(std::move(keys), std::move(name_space), std::move(random));
}

}  // namespace shove::sqlite_backend::lease
