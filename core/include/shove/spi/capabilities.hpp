#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace shove::spi {

/// What a broker can do, as data. The engine and the tests ask these, never the backend's name.
/// A literal type, so that a backend's tag can offer it at compile time (`Tag::capabilities`).
struct capabilities {
    std::string_view backend;         ///< The name in metrics and errors.
    bool durable = false;             ///< A confirmed message survives the death of every client process.
    bool several_processes = false;   ///< Other processes reach the same queues.
    bool delayed_publish = false;     ///< `publish_in`, `publish_at`.
    bool any_delay = false;           ///< Retry delays need no hold queue of just that length.
    bool ordered_completion = false;  ///< Settlements must arrive in receive order (offsets).
    bool crash_budget = false;        ///< Deaths of a process during a call are counted durably.
    bool admin = false;               ///< Queues can be listed, browsed, moved and purged.
    bool key_order = false;           ///< Sequenced topics keep G2.
    bool keeps_keys = false;          ///< Poisoned keys are kept with the queue, listed, and released by an operator.
    bool broadcast = false;           ///< Every subscriber gets every message.
    bool broadcast_history = false;   ///< A subscriber may begin with messages from before its subscription.
    bool reader_groups = false;       ///< `for_consumer_group`.
    bool coordinated_groups = false;  ///< min..max groups.
    bool external_topology = false;   ///< `external()`.
    /// How long a delivery belongs to its consumer without a renewal; 0: until the consumer goes.
    std::chrono::milliseconds lease{0};
    std::chrono::milliseconds max_delay = std::chrono::hours(24 * 365);
    std::size_t max_message_bytes = std::numeric_limits<std::uint32_t>::max() / 2;
    std::size_t max_queue_name_bytes = 255;
    /// Names and values of a message's headers together.
    std::size_t max_header_bytes = std::numeric_limits<std::uint32_t>::max() / 2;
    bool sorts_headers = false;  ///< On the way, headers of different names may change places.
};

}  // namespace shove::spi
