#pragma once

#include "sealed_record.hpp"
#include "sealer.hpp"

#include <memory>
#include <string>

namespace shove::sqlite_backend::lease {

/// Seals records under the ring's first key: profile `aes-256-gcm-v1`. A store whose probe is sealed by another key of
/// the ring has its probe and its fingerprint key sealed anew when it is opened.
std::unique_ptr<sealer> make_sealing_sealer(keyring keys, std::string name_space, random_source random);

}  // namespace shove::sqlite_backend::lease
