#pragma once

#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>
#include <shove/topic.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shove {

namespace detail {
class broker_core;
}

/// Which dead letters an operation concerns; everything given must hold.
struct letter_filter {
    std::string reason{};              ///< The death's reason; empty: any.
    std::optional<wall_time> since{};  ///< Dead at or after this.
    std::string match{};               ///< A text that the payload contains; empty: any.
    std::uint64_t limit = UINT64_MAX;  ///< No more than so many.
};

/// How far a long operation has come.
struct admin_progress {
    std::uint64_t seen = 0;     ///< Letters looked at.
    std::uint64_t matched = 0;  ///< Of these, those the filter lets through.
    std::uint64_t done = 0;     ///< Of these, those replayed or purged.
};

/// Queues and dead letters, for tools. All calls block, use flat memory, and throw `exception`.
/// @par Thread safety  All members may be called from several threads.
class admin {
public:
    explicit admin(std::shared_ptr<detail::broker_core> core) noexcept : core_(std::move(core)) {}

    std::vector<spi::queue_info> queues() const;
    /// Shows the letters waiting in `queue` that the filter lets through, oldest first, without taking them;
    /// `show` may return false to end.
    admin_progress browse(std::string_view queue, const letter_filter& filter,
                          const std::function<bool(const spi::browsed&)>& show) const;
    /// Publishes letters again to `to` (empty: where each one died), oldest first, with their id, key and headers,
    /// attempts reset and the header `x-shove-replays` raised; each letter goes only after its copy is confirmed.
    /// @param progress  Called after each page; may return false to end.
    admin_progress replay(std::string_view queue, std::string_view to, const letter_filter& filter,
                          const std::function<bool(const admin_progress&)>& progress = {}) const;
    /// Removes letters for good.
    admin_progress purge(std::string_view queue, const letter_filter& filter,
                         const std::function<bool(const admin_progress&)>& progress = {}) const;

    /// The poisoned keys of a sequenced topic (`sequence_failure::fail_all`).
    std::vector<spi::poisoned_key> keys(const queue_topology& topology) const;
    template <topic_type T>
    std::vector<spi::poisoned_key> keys() const {
        return keys(*detail::topology_of<T>());
    }
    /// Lets a poisoned key go on: its messages are handled again from the next one handed out. What was
    /// dead-lettered meanwhile stays there, to be replayed. False: it was not poisoned.
    bool release_key(const queue_topology& topology, std::string_view key) const;
    template <topic_type T>
    bool release_key(std::string_view key) const {
        return release_key(*detail::topology_of<T>(), key);
    }

private:
    std::shared_ptr<detail::broker_core> core_;
};

}  // namespace shove
