#pragma once

#include <shove/topic.hpp>

#include <boost/describe/class.hpp>

#include <cstdint>
#include <string>

namespace shove::bench {

/// The message that is measured: the same fields as the peers send.
struct sample {
    std::string id;
    std::uint64_t seq = 0;
    std::uint64_t sent_ns = 0;  ///< Stamped right before the publish call.
    std::string body;
};
BOOST_DESCRIBE_STRUCT(sample, (), (id, seq, sent_ns, body))

/// `seq` of the message that only proves that the consumers are attached.
inline constexpr std::uint64_t probe_seq = UINT64_MAX;

}  // namespace shove::bench
