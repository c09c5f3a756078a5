#pragma once

#include <shove/spi/driver.hpp>
#include <shove/topology.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shove::cli {

/// One thing in which a broker's queues are not as declared.
struct difference {
    enum class kind : std::uint8_t {
        missing_queue,              ///< A queue, or a shard, is not there.
        missing_dead_letter_queue,  ///< It is not there, or the queue does not know of it.
        other_dead_letter_queue,    ///< The queue keeps its dead letters elsewhere.
        other_shards,               ///< The sequenced topic has another number of shards.
        other_order,                ///< Sequenced here, not sequenced there, or the reverse.
    };
    kind what = kind::missing_queue;
    std::string topic;     ///< The declared queue.
    std::string name;      ///< What is missing, or differs.
    std::string declared;  ///< What it should be; empty: nothing.
    std::string found;     ///< What it is; empty: nothing.
    std::string text;      ///< In words.
    std::string remedy;    ///< What to do.

    /// Declaring the topology is all that it takes, and takes nothing away from anybody.
    bool can_be_made() const noexcept { return what == kind::missing_queue || what == kind::missing_dead_letter_queue; }
};

/// The kind as a word for scripts.
std::string_view word_for(difference::kind what) noexcept;

using declared_topologies = std::vector<std::shared_ptr<const queue_topology>>;

/// In what the queues that are there differ from the declared ones, topic by topic.
/// @param hold_queues  The broker needs queues for delays (no `capabilities::any_delay`).
std::vector<difference> compare(const declared_topologies& declared, const std::vector<spi::queue_info>& there,
                                bool hold_queues);

/// Names of queues that no declared topology and no difference speaks of.
std::vector<std::string> leftovers(const declared_topologies& declared, const std::vector<spi::queue_info>& there,
                                   const std::vector<difference>& differences);

}  // namespace shove::cli
