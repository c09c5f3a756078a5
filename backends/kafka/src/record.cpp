#include "record.hpp"

#include <shove/detail/past.hpp>
#include <shove/detail/utf8.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <limits>
#include <utility>

#include "header_types.hpp"
#include "wire_names.hpp"

namespace shove::kafka_backend {

namespace {

/// A message has this room for headers.
constexpr std::size_t header_room = (std::size_t{1} << 24) - (std::size_t{1} << 20);
constexpr std::size_t longest_text = 255;

/// What our headers held in a record that came.
struct own_headers {
    std::optional<std::string_view> id;
    std::string_view content_type;
    std::string_view type;
    std::optional<wall_time> published_at;
    wall_time expires_at{};
    wall_time due{};
    spi::history past;
};

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto* end = text.data() + text.size();
    const auto [at, bad] = std::from_chars(text.data(), end, number);
    if (bad != std::errc() || at != end) return std::nullopt;
    return number;
}

bool set(std::uint32_t& into, std::string_view value) {
    const auto number = number_in<std::uint32_t>(value);
    if (number) into = *number;
    return number.has_value();
}

template <class Time>
bool set_time(Time& into, std::string_view value) {
    const auto number = number_in<std::int64_t>(value);
    if (number) into = wall_time(std::chrono::microseconds(*number));
    return number.has_value();
}

bool set(std::string& into, std::string_view value) {
    if (!detail::is_utf8(value)) return false;
    into = detail::utf8_prefix(value, spi::history::max_error_bytes);
    return true;
}

template <class View>
bool set_view(View& into, std::string_view value, std::size_t least) {
    if (value.size() < least || value.size() > longest_text) return false;
    into = value;
    return true;
}

/// A header of ours, and how its value is entered; false if it makes no sense there.
struct own_header {
    std::string_view name;
    bool (*enter)(own_headers& into, std::string_view value);
};

using text = std::string_view;
constexpr std::array<own_header, 16> known{{
    {wire_names::message_id, [](own_headers& o, text v) { return set_view(o.id, v, 1); }},
    {wire_names::content_type, [](own_headers& o, text v) { return set_view(o.content_type, v, 0); }},
    {wire_names::type, [](own_headers& o, text v) { return set_view(o.type, v, 0); }},
    {wire_names::published_at, [](own_headers& o, text v) { return set_time(o.published_at, v); }},
    {wire_names::expires_at, [](own_headers& o, text v) { return set_time(o.expires_at, v); }},
    {wire_names::due, [](own_headers& o, text v) { return set_time(o.due, v); }},
    {wire_names::retry_count, [](own_headers& o, text v) { return set(o.past.retries, v); }},
    {wire_names::crashes, [](own_headers& o, text v) { return set(o.past.crashes, v); }},
    {wire_names::first_error, [](own_headers& o, text v) { return set(o.past.first_error, v); }},
    {wire_names::last_error, [](own_headers& o, text v) { return set(o.past.last_error, v); }},
    {wire_names::first_failed_at, [](own_headers& o, text v) { return set_time(o.past.first_failed_at, v); }},
    {wire_names::last_failed_at, [](own_headers& o, text v) { return set_time(o.past.last_failed_at, v); }},
    {wire_names::death_reason, [](own_headers& o, text v) { return set(o.past.death_reason, v); }},
    {wire_names::original_queue, [](own_headers& o, text v) { return set(o.past.original_queue, v); }},
    {wire_names::death_count, [](own_headers& o, text v) { return set(o.past.death_count, v); }},
    {wire_names::dead_at, [](own_headers& o, text v) { return set_time(o.past.dead_at, v); }},
}};

/// The headers of a record, sorted: what is ours, and the rest. Of several of one name of ours the first that makes
/// sense counts.
class sorter {
public:
    explicit sorter(const std::vector<record_header>& all) {
        for (const auto& each : all) {
            if (!take(each)) rest_.push_back(&each);
        }
    }

    own_headers own;

    headers others() const {
        headers made;
        for (std::size_t i = 0; i < rest_.size(); ++i) {
            auto name = rest_[i]->name;
            if (name.starts_with(wire_names::kept_prefix)) name.remove_prefix(wire_names::kept_prefix.size());
            if (name.empty()) name = wire_names::unnamed;
            name = name.substr(0, std::numeric_limits<std::uint16_t>::max());
            const auto& value = rest_[i]->value;
            if (made.view().encoded().size() + name.size() + value.value_or("").size() > header_room) break;
            made.add(name, value ? types_.value(*value, i) : header_value());
        }
        return made;
    }

private:
    bool take(const record_header& one) {
        if (!one.name.starts_with(wire_names::prefix) || !one.value) return false;
        if (one.name == wire_names::types) {
            types_.read(*one.value);
            return true;
        }
        const auto* found = std::ranges::find(known, one.name, &own_header::name);
        if (found == known.end()) return false;
        const auto which = static_cast<std::size_t>(found - known.begin());
        if (taken_.test(which)) return true;
        if (!found->enter(own, *one.value)) return false;
        taken_.set(which);
        return true;
    }

    std::vector<const record_header*> rest_;
    header_types types_;
    std::bitset<known.size()> taken_;
};

std::unique_ptr<spi::history> past_of(spi::history& past, bool dead_letter_queue) {
    if (!dead_letter_queue) {
        past.death_reason.clear();
        past.original_queue.clear();
        past.death_count = 0;
        past.dead_at = {};
    }
    return detail::is_blank(past) ? nullptr : std::make_unique<spi::history>(std::move(past));
}

}  // namespace

incoming read_record(const record_view& from, bool dead_letter_queue) {
    sorter sorted(from.headers);
    const auto others = sorted.others();
    auto& own = sorted.own;
    message_parts parts;
    parts.id = own.id.value_or("");
    parts.key = from.key;
    parts.content_type = own.content_type;
    parts.type = own.type;
    parts.payload = from.value;
    parts.headers = others;
    if (own.published_at) {
        parts.published_at = *own.published_at;
    } else if (from.timestamp_ms) {
        parts.published_at = wall_time(std::chrono::milliseconds(*from.timestamp_ms));
    }
    parts.expires_at = own.expires_at;
    incoming made;
    made.msg = message::make(parts);
    made.past = past_of(own.past, dead_letter_queue);
    made.due = own.due;
    return made;
}

written_headers::written_headers(const message& msg, const spi::history* past, wall_time due) {
    id_buffer room;
    const auto parts = msg.parts(room);
    if (!parts.id.empty()) add(wire_names::message_id, parts.id);
    add_number(wire_names::retry_count, past != nullptr ? past->retries : 0);
    add_time(wire_names::published_at, parts.published_at);
    add_time(wire_names::expires_at, parts.expires_at);
    add_time(wire_names::due, due);
    if (!parts.content_type.empty()) add(wire_names::content_type, parts.content_type);
    if (!parts.type.empty()) add(wire_names::type, parts.type);
    if (past != nullptr) add_past(*past);
    add_users(parts.headers);
}

void written_headers::add_past(const spi::history& past) {
    const auto count = [&](std::string_view name, std::uint32_t number) {
        if (number != 0) add_number(name, number);
    };
    const auto told = [&](std::string_view name, std::string_view value) {
        if (!value.empty()) add(name, value);
    };
    count(wire_names::crashes, past.crashes);
    told(wire_names::first_error, past.first_error);
    told(wire_names::last_error, past.last_error);
    add_time(wire_names::first_failed_at, past.first_failed_at);
    add_time(wire_names::last_failed_at, past.last_failed_at);
    told(wire_names::death_reason, past.death_reason);
    told(wire_names::original_queue, past.original_queue);
    count(wire_names::death_count, past.death_count);
    add_time(wire_names::dead_at, past.dead_at);
}

void written_headers::add_users(const headers_view& headers) {
    header_types types;
    std::string scratch;
    std::size_t place = 0;
    for (const auto& each : headers) {
        auto name = each.name;
        if (name == wire_names::unnamed) name = {};
        if (name.starts_with(wire_names::prefix)) name = keep(std::string(wire_names::kept_prefix) + std::string(name));
        if (each.value.type() == header_type::none) {
            list_.push_back({name, std::nullopt});
        } else {
            const auto bytes = types.write(each.value, place, scratch);
            // Only what was written here must be kept; the rest lives as long as the message.
            list_.push_back({name, bytes.data() == scratch.data() ? keep(bytes) : bytes});
        }
        ++place;
    }
    if (!types.text().empty()) add(wire_names::types, types.text());
}

void written_headers::add_number(std::string_view name, std::int64_t number) {
    add(name, std::to_string(number));
}

void written_headers::add_time(std::string_view name, wall_time when) {
    if (when != wall_time{}) add_number(name, when.time_since_epoch().count());
}

std::string_view written_headers::keep(std::string_view value) {
    kept_.push_back(std::make_unique<std::string>(value));
    return *kept_.back();
}

}  // namespace shove::kafka_backend
