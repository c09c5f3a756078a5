#pragma once

#include <shove/spi/capabilities.hpp>
#include <shove/topic.hpp>

namespace shove {

/// Stands for a backend chosen at run time: every operation compiles, and what the backend lacks is
/// `errc::unsupported`.
struct any_backend {};

namespace detail {

/// Whether backend `B` has a capability, as far as it is known at compile time.
template <class B>
consteval bool offers(bool spi::capabilities::*capability) {
    if constexpr (std::same_as<B, any_backend>) {
        (void)capability;
        return true;
    } else {
        return B::capabilities.*capability;
    }
}

/// Refuses, at compile time, a topic that needs what backend `B` lacks.
template <class B, class T>
consteval void check_capabilities() {
    static_assert(sizeof(checked_topic<T>) > 0);
    static_assert(!T::topology.is_sequenced() || offers<B>(&spi::capabilities::key_order),
                  "topic T is sequenced, and backend B cannot keep order per key");
    static_assert(!T::topology.is_broadcast() || offers<B>(&spi::capabilities::broadcast),
                  "topic T is a broadcast, and backend B has none");
    static_assert(T::topology.reader_group().empty() || offers<B>(&spi::capabilities::reader_groups),
                  "topic T is for_consumer_group(), and backend B has no reader groups");
    static_assert(!T::topology.is_external() || offers<B>(&spi::capabilities::external_topology),
                  "topic T is external(), and backend B cannot verify foreign queues");
}

}  // namespace detail
}  // namespace shove
