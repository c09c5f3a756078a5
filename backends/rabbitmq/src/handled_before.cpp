#include "handled_before.hpp"

#include "connection.hpp"
#include "deaths.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::string_view again_note = "x-shove-driver-again";
static_assert(again_note.starts_with(wire_names::driver_prefix));

}  // namespace

headers handled_before_note() {
    return {{again_note, header_value(true)}};
}

bool handled_before(const amqp_basic_properties_t& properties) noexcept {
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return false;
    for (int i = 0; i < properties.headers.num_entries; ++i) {
        const auto& entry = properties.headers.entries[i];
        const auto name = text_of(entry.key);
        if (name == again_note) return true;
        if (name == wire_names::retry_count) return true;
        if (name != wire_names::x_death) continue;
        const auto death = latest_death(entry.value);
        if (death && death->queue.find("-hold-") != death->queue.npos) return true;
    }
    return false;
}

}  // namespace shove::rabbitmq_backend
