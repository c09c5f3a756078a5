#include "supported.hpp"

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

}  // namespace shove::detail
