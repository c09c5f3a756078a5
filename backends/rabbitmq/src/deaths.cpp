#include "deaths.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "field.hpp"

namespace shove::rabbitmq_backend {

namespace {

std::span<const amqp_field_value_t> entries_of(const amqp_field_value_t& field) noexcept {
    if (field.kind != AMQP_FIELD_KIND_ARRAY || field.value.array.num_entries <= 0) return {};
    return {field.value.array.entries, static_cast<std::size_t>(field.value.array.num_entries)};
}

std::string_view text_of(const amqp_table_t& table, std::string_view name) {
    const auto* field = find_field(table, name);
    const auto text = field ? text_in(*field, 255) : std::nullopt;
    return text.value_or(std::string_view());
}

wall_time time_of(const amqp_table_t& table) {
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max() / 1'000'000;
    const auto* field = find_field(table, "time");
    const auto at = field ? integer_of(*field).value_or(0) : 0;
    return at > 0 && at <= last ? wall_time(std::chrono::seconds(at)) : wall_time{};
}

}  // namespace

std::optional<broker_death> latest_death(const amqp_field_value_t& x_death) {
    const auto all = entries_of(x_death);
    if (all.empty() || all[0].kind != AMQP_FIELD_KIND_TABLE) return std::nullopt;
    const auto& table = all[0].value.table;
    const auto* count = find_field(table, "count");
    return broker_death{text_of(table, "reason"), text_of(table, "queue"), count ? count_of(*count).value_or(0) : 0,
                        time_of(table)};
}

std::optional<std::string_view> routing_key_at(const amqp_field_value_t& x_death, std::string_view exchange) {
    for (const auto& death : entries_of(x_death)) {
        if (death.kind != AMQP_FIELD_KIND_TABLE) continue;
        const auto* where = find_field(death.value.table, "exchange");
        const auto* keys = find_field(death.value.table, "routing-keys");
        if (where == nullptr || keys == nullptr || bytes_in(*where) != exchange) continue;
        const auto all = entries_of(*keys);
        if (!all.empty()) return bytes_in(all[0]);
    }
    return std::nullopt;
}

amqp_field_value_t death_writer::write(const spi::history& past) noexcept {
    std::size_t count = 0;
    const auto add = [&](std::string_view name, const amqp_field_value_t& field) {
        entries_[count++] = {bytes_of(name), field};
    };
    add("reason", text_field(past.death_reason == "expired" ? "expired" : "rejected"));
    add("queue", text_or_binary_field(past.original_queue));
    add("count", integer_field(past.death_count));
    add("exchange", text_field(""));
    routing_key_ = text_or_binary_field(past.original_queue);
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_ARRAY;
    field.value.array = {1, &routing_key_};
    add("routing-keys", field);
    const auto at = std::chrono::floor<std::chrono::seconds>(past.dead_at).time_since_epoch().count();
    if (at > 0) {
        field = integer_field(at);
        field.kind = AMQP_FIELD_KIND_TIMESTAMP;
        add("time", field);
    }
    death_ = {};
    death_.kind = AMQP_FIELD_KIND_TABLE;
    death_.value.table = {static_cast<int>(count), entries_.data()};
    field = {};
    field.kind = AMQP_FIELD_KIND_ARRAY;
    field.value.array = {1, &death_};
    return field;
}

}  // namespace shove::rabbitmq_backend
