#pragma once

#include <shove/spi/driver.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "control.hpp"
#include "outlet.hpp"

// The list of a shard's poisoned keys, `{shard}-poisoned`, as operators see and change it. The shard's owner has its
// own, in the shard's state.

namespace shove::rabbitmq_backend {

/// Adds the shard's poisoned keys, each once, by name. Throws as `connection` does.
void poisoned_keys(ask_channel& over, const std::string& shard, std::vector<spi::poisoned_key>& to);
/// Takes a key off the list. Gives how many there were: 0 or 1.
std::size_t strike_key(ask_channel& over, const std::string& shard, const std::string& key);
/// What tells the owner that a key goes on.
parcel release_record(const std::string& shard, const std::string& key);
/// Waits, but not for long, until the server has handed all that is in the shard's state to an owner, if there is one.
/// Whatever is published to the shard afterwards comes to it later.
void await_owner(ask_channel& over, const std::string& shard);

}  // namespace shove::rabbitmq_backend
