#include "handled_before.hpp"

#include <random>

#include "connection.hpp"
#include "deaths.hpp"
#include "field.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::string_view again_note = "x-shove-driver-again";
static_assert(again_note.starts_with(wire_names::driver_prefix));

}  // namespace

copy_marks::copy_marks() {
    std::random_device source;
    base_ = std::uint64_t{source()} << 32U | source();
}

std::int64_t copy_marks::of(std::size_t index) const noexcept {
    const auto mark = static_cast<std::int64_t>(base_ + index);
    return mark == 0 ? 1 : mark;
}

headers handled_before_note(std::int64_t mark) {
    return {{again_note, header_value(mark)}};
}

std::int64_t copy_mark(const amqp_basic_properties_t& properties) noexcept {
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return 0;
    const auto* field = find_field(properties.headers, again_note);
    return field && field->kind == AMQP_FIELD_KIND_I64 ? field->value.i64 : 0;
}

std::string name_of_copy(const std::string& message_id, std::int64_t mark) {
    return mark == 0 ? message_id : message_id + "#" + std::to_string(mark);
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
