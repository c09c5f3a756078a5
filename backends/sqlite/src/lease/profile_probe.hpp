#pragma once

#include "sealed_record.hpp"

namespace shove::sqlite_backend::lease {

/// A known text, sealed: whether the keys are a store's is known when it is opened, and not at its first message.
/// Byte for byte as rullst-messaging seals it.
result<std::string> seal_probe(const keyring& keys, std::string_view name_space, const random_source& random);

/// Errors as `open_record`.
error check_probe(const keyring& keys, std::string_view name_space, std::string_view blob);

}  // namespace shove::sqlite_backend::lease
