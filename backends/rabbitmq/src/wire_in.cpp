#include "wire_in.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deaths.hpp"
#include "field.hpp"
#include "foreign_properties.hpp"
#include "header_codec.hpp"
#include "own_headers.hpp"
#include "type_memory.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {

namespace {

/// A message has this room for headers. A frame as large as we ever ask for fits into it several times.
constexpr std::size_t header_room = (std::size_t{1} << 24) - (std::size_t{1} << 20);

/// A header's table, sorted: what is ours, what is the broker's, and the rest.
class table_reader {
public:
    explicit table_reader(const amqp_basic_properties_t& from) {
        if ((from._flags & AMQP_BASIC_HEADERS_FLAG) == 0 || from.headers.num_entries <= 0) return;
        for (const auto& entry : std::span(from.headers.entries, static_cast<std::size_t>(from.headers.num_entries))) {
            sort_in(entry);
        }
    }

    own_headers own;
    const amqp_field_value_t* x_death = nullptr;
    headers others;

    /// Enters what is of the other client behind what is in `others` already, which is what its properties became: they
    /// must be met before any header that bears such a name.
    void keep_rest() {
        index_ = others.view().size();
        for (const auto* entry : rest_)
            keep(view_of(entry->key), entry->value);
        if (!notes_.encoded().empty()) others.add(wire_names::types, std::as_bytes(std::span(notes_.encoded())));
    }

private:
    void sort_in(const amqp_table_entry_t& entry) {
        const auto name = view_of(entry.key);
        if (name == wire_names::x_death && x_death == nullptr) x_death = &entry.value;
        if (wire_names::is_brokers(name) || name == wire_names::types) return;
        if (own.take(name, entry.value) || name.starts_with(wire_names::driver_prefix)) return;
        rest_.push_back(&entry);
    }

    void keep(std::string_view name, const amqp_field_value_t& value) {
        if (name.empty()) name = wire_names::unnamed;
        if (name.starts_with(wire_names::kept_prefix)) {
            const auto own_name = name.substr(wire_names::kept_prefix.size());
            if (wire_names::must_be_renamed(own_name)) name = own_name;
        }
        const auto shown = show_field(value, scratch_);
        if (others.view().encoded().size() + notes_.encoded().size() + name.size() + shown.value.bytes().size() >
            header_room) {
            return;
        }
        if (shown.letter != 0) notes_.add(shown.letter, index_, name);
        others.add(name, shown.value);
        ++index_;
    }

    std::vector<const amqp_table_entry_t*> rest_;
    type_notes notes_;
    std::size_t index_ = 0;
    std::string scratch_;
};

/// A property that is set and not empty.
std::string_view text_of(const amqp_basic_properties_t& from, amqp_flags_t flag, const amqp_bytes_t& bytes) noexcept {
    return (from._flags & flag) != 0 ? view_of(bytes).substr(0, 255) : std::string_view();
}

/// When it was published; `own` is the finer of the two that a message may tell.
wall_time published_at(const amqp_basic_properties_t& from, const std::optional<wall_time>& own, bool& taken) {
    const bool told = (from._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0;
    if (own) {
        const auto us = own->time_since_epoch().count();
        taken = told && us > 0 && static_cast<std::uint64_t>(us) / 1'000'000 == from.timestamp;
        return *own;
    }
    taken = told && is_time_of_publishing(from.timestamp);
    if (!taken) return {};
    return wall_time(std::chrono::seconds(static_cast<std::int64_t>(from.timestamp)));
}

std::optional<std::string_view> key_of(const table_reader& table, const arrival& how) {
    if (table.own.key || how.key_exchange.empty()) return table.own.key;
    if (how.exchange == how.key_exchange) return how.routing_key;
    return table.x_death != nullptr ? routing_key_at(*table.x_death, how.key_exchange) : std::nullopt;
}

std::unique_ptr<spi::history> past_of(table_reader& table, bool dead_letter_queue) {
    auto& past = table.own.past;
    if (!dead_letter_queue) {
        past.death_reason.clear();
        past.original_queue.clear();
        past.death_count = 0;
        past.dead_at = {};
    } else if (!is_dead(past) && table.x_death != nullptr) {
        if (const auto death = latest_death(*table.x_death)) {
            past.death_reason = death->reason;
            past.original_queue = death->queue;
            past.death_count = death->count;
            past.dead_at = death->when;
        }
    }
    return is_blank(past) ? nullptr : std::make_unique<spi::history>(std::move(past));
}

}  // namespace

incoming read_message(const amqp_basic_properties_t& properties, std::span<const std::byte> body, const arrival& how,
                      std::shared_ptr<const void> owner) {
    table_reader table(properties);
    message_parts parts;
    taken_properties taken;
    const auto message_id = text_of(properties, AMQP_BASIC_MESSAGE_ID_FLAG, properties.message_id);
    parts.id = table.own.id.value_or(message_id);
    parts.key = key_of(table, how);
    parts.content_type = text_of(properties, AMQP_BASIC_CONTENT_TYPE_FLAG, properties.content_type);
    parts.type = text_of(properties, AMQP_BASIC_TYPE_FLAG, properties.type);
    parts.published_at = published_at(properties, table.own.published_at, taken.timestamp);
    parts.expires_at = table.own.expires_at;
    parts.payload = body;
    taken.message_id = !message_id.empty() && message_id == parts.id;
    taken.content_type = !parts.content_type.empty();
    taken.type = !parts.type.empty();
    show_properties(properties, taken, table.others);
    table.keep_rest();
    parts.headers = table.others;
    incoming made;
    made.msg = message::make(parts, std::move(owner));
    made.past = past_of(table, how.dead_letter_queue);
    return made;
}

}  // namespace shove::rabbitmq_backend
