#pragma once

#include "key_index.hpp"

#include <shove/lease_message.hpp>
#include <shove/spi/lease_port.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace shove::inprocess_backend::lease {

using sequence = std::uint64_t;

/// The retained messages of one topic, in order, and the keys that they were published under.
class topic_log {
public:
    struct kept {
        std::shared_ptr<const lease_envelope> envelope;  ///< Null: purged.
        std::string key;
        spi::fingerprint content{};
    };

    /// The message of a key, or null.
    const kept* by_key(const std::string& key) const;
    /// Keeps a message under the next number, which `envelope` must carry.
    void append(std::shared_ptr<const lease_envelope> envelope, std::string key, const spi::fingerprint& content);
    /// The message of a number, or null.
    std::shared_ptr<const lease_envelope> find(sequence at) const;
    /// The lowest number after `at` that is retained; `next()` if there is none.
    sequence following(sequence at) const;
    /// Removes a message and its key; gives the bytes of its payload.
    std::size_t remove(sequence at);

    sequence next() const noexcept { return first_ + log_.size(); }
    std::size_t retained() const noexcept { return keys_.size(); }

private:
    static std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }
    const kept* at(sequence number) const;

    sequence first_ = 1;  ///< Of `log_`.
    std::deque<kept> log_;
    key_index keys_;
};

}  // namespace shove::inprocess_backend::lease
