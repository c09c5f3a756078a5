#include "supported.hpp"

#include <chrono>
#include <string>

namespace shove::detail {

error check_supported(const queue_topology& topology, const spi::capabilities& caps) {
    const auto lacking = [&](std::string_view is, std::string_view cannot) {
        return error(errc::unsupported, "topic '" + topology.queue + "' " + std::string(is) + ", and backend " +
                                            std::string(caps.backend) + " " + std::string(cannot));
    };
    if (topology.sequencing && !caps.key_order) return lacking("is sequenced", "cannot keep order per key");
    if (topology.broadcast && !caps.broadcast) return lacking("is a broadcast", "has none");
    if (topology.external && !caps.external_topology) return lacking("is external", "cannot verify foreign queues");
    if (!topology.reader_group.empty() && !caps.reader_groups) {
        return lacking("is for_consumer_group()", "has no reader groups");
    }
    return {};
}

error check_broadcast(const registration& what, const spi::capabilities& caps) {
    const auto& queue = what.topology->queue;
    if (what.topology->broadcast != what.broadcast.has_value()) {
        return {errc::invalid_argument, what.broadcast ? "topic '" + queue + "' is no broadcast; consume it with add()"
                                                       : "topic '" + queue + "' is a broadcast; use add_broadcast()"};
    }
    if (!what.broadcast) return {};
    const auto& start = what.broadcast->from;
    const bool by_time = start.from == broadcast_start::kind::time;
    const auto when = std::chrono::duration_cast<milliseconds>(start.when.time_since_epoch()).count();
    if (by_time && when < 0) {
        return {errc::invalid_argument, "the subscription to '" + queue + "' begins at " + std::to_string(when) +
                                            " ms since 1970; give a time that is not negative"};
    }
    if (start.from == broadcast_start::kind::tail || caps.broadcast_history) return {};
    return {errc::unsupported, "the subscription to '" + queue + "' cannot begin at " +
                                   (by_time ? "time " + std::to_string(when) + " ms" : "the head") + ": backend " +
                                   std::string(caps.backend) + " keeps no history of broadcasts; begin at the tail"};
}

}  // namespace shove::detail
