#include "sealer.hpp"

#include <utility>

namespace shove::sqlite_backend::lease {
namespace {

class plain_sealer final : public sealer {
public:
    result<sealer_state> attach(const std::optional<sealer_state>& stored,
                                std::span<const sealed_sample> samples) override {
        const sealer_state plain{std::string(plain_profile)};
        if (stored ? *stored == plain : samples.empty()) return plain;
        return error(errc::configuration_conflict, "the namespace is kept in the profile '" +
                                                       (stored ? stored->profile : std::string("unknown")) +
                                                       "', not in 'plaintext-v1'; open it with its keys");
    }
    result<sealed> seal(const record_identity&, std::string clear) override { return sealed{std::move(clear)}; }
    result<std::string> open(const record_identity&, std::string_view blob) override { return std::string(blob); }
    result<spi::fingerprint> fingerprint(const spi::fingerprint& content) override { return content; }
};

}  // namespace

std::unique_ptr<sealer> make_plain_sealer() {
    return std::make_unique<plain_sealer>();
}

}  // namespace shove::sqlite_backend::lease
