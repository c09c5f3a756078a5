#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shard_record.hpp"

namespace shove::rabbitmq_backend {

/// What is known of one message.
struct finding {
    bool given_back = false;    ///< Nobody has died over it since somebody last had it.
    bool missed = false;        ///< Somebody had it again, and nothing was written of it.
    std::uint32_t crashes = 0;  ///< Deaths that were its own.
    bool operator==(const finding&) const = default;
};
using findings = std::unordered_map<std::string, finding>;  ///< By `record_id`.

/// What the notes of a queue say together, read in the order in which they were written. Pure.
class note_reader {
public:
    void note(std::uint64_t tag, const shard_record& record, std::span<const std::byte> body);
    findings found() const;
    /// The notes without which the rest says the same, also where only the first of them are removed. Rising.
    std::vector<std::uint64_t> needless() const;

private:
    /// Two notes make up what is known: one that counts whatever was before it, and one that was written on top.
    struct about {
        finding now;
        std::uint64_t base = 0;
        std::uint64_t top = 0;
    };
    struct seen {
        std::uint64_t tag = 0;
        std::vector<std::string> ids;
    };
    void tell(std::uint64_t tag, const shard_record& record, about& of) const;

    std::unordered_map<std::string, about> all_;
    std::vector<seen> notes_;
};

}  // namespace shove::rabbitmq_backend
