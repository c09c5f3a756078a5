#include "wire_out.hpp"

#include <shove/detail/utf8.hpp>

#include <algorithm>
#include <string>

#include "field.hpp"
#include "foreign_properties.hpp"
#include "header_codec.hpp"
#include "own_headers.hpp"
#include "type_memory.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {

void properties_writer::add(std::string_view name, const amqp_field_value_t& field) {
    entries_.push_back({bytes_of(name), field});
}

void properties_writer::add_time(std::string_view name, wall_time when) {
    if (when != wall_time{}) add(name, integer_field(when.time_since_epoch().count()));
}

void properties_writer::add_count(std::string_view name, std::uint32_t count) {
    if (count != 0) add(name, count_field(count));
}

void properties_writer::add_error_text(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    add(name, text_or_binary_field(text));
    ++error_texts_;
}

void properties_writer::add_parts(const message& msg) {
    if (const auto id = msg.id(id_); !id.empty()) add(wire_names::message_id, text_or_binary_field(id));
    if (const auto key = msg.key()) add(wire_names::key, text_or_binary_field(*key));
    add_time(wire_names::published_at, msg.published_at());
    add_time(wire_names::expires_at, msg.expires_at());
}

void properties_writer::add_history(const spi::history& past) {
    add_error_text(wire_names::first_error, past.first_error);
    add_error_text(wire_names::last_error, past.last_error);
    add_count(wire_names::retry_count, past.retries);
    add_count(wire_names::crashes, past.crashes);
    add_time(wire_names::first_failed_at, past.first_failed_at);
    add_time(wire_names::last_failed_at, past.last_failed_at);
    if (!past.death_reason.empty()) add(wire_names::death_reason, text_or_binary_field(past.death_reason));
    if (!past.original_queue.empty()) add(wire_names::original_queue, text_or_binary_field(past.original_queue));
    add_count(wire_names::death_count, past.death_count);
    add_time(wire_names::dead_at, past.dead_at);
    if (is_dead(past)) add(wire_names::x_death, death_.write(past));
}

/// Of two headers of one name a reader would see either.
bool properties_writer::is_written(std::string_view name) const noexcept {
    if (!name.starts_with("x-")) return false;
    return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(own_),
                       [&](const auto& entry) { return view_of(entry.key) == name; });
}

void properties_writer::add_header(const header& from, char letter, const restore_rules& rules) {
    if (from.name.starts_with("x-shove-")) {
        if (from.name == wire_names::types || from.name.starts_with(wire_names::driver_prefix)) return;
        if (from.name == wire_names::unnamed) return add("", to_field(from.value, letter, memory_));
        if (restore_property(from, rules, properties_)) return;
    }
    if (is_written(from.name) && !wire_names::is_brokers(from.name)) return;
    const auto name =
        wire_names::must_be_renamed(from.name) ? memory_.joined(wire_names::kept_prefix, from.name) : from.name;
    add(name, to_field(from.value, letter, memory_));
}

error properties_writer::add_headers(const message& msg, const outgoing_context& context) {
    const auto all = msg.headers();
    if (all.empty()) return {};
    const restore_rules rules{context.user, !msg.id(id_).empty(), msg.published_at() != wall_time{}};
    type_memory types(all);
    std::size_t index = 0;
    for (const auto& one : all) {
        if (one.name.size() > 255) {
            return {errc::too_large,
                    "a header's name has " + std::to_string(one.name.size()) + " bytes; RabbitMQ takes at most 255"};
        }
        add_header(one, types.letter_of(index++, one.name), rules);
    }
    return {};
}

void properties_writer::set_text(amqp_flags_t flag, amqp_bytes_t& into, std::string_view text) noexcept {
    if ((properties_._flags & flag) != 0 || text.empty()) return;
    into = bytes_of(text);
    properties_._flags |= flag;
}

/// Before the headers: what no header may replace.
void properties_writer::set_properties(const message& msg) {
    properties_.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties_._flags |= AMQP_BASIC_DELIVERY_MODE_FLAG;
    set_text(AMQP_BASIC_CONTENT_TYPE_FLAG, properties_.content_type, msg.content_type());
    set_text(AMQP_BASIC_TYPE_FLAG, properties_.type, msg.type());
}

/// After the headers: these may hold another id and time, which another client gave beside ours.
void properties_writer::complete_properties(const message& msg) {
    set_text(AMQP_BASIC_MESSAGE_ID_FLAG, properties_.message_id, msg.id(id_));
    const auto published = msg.published_at().time_since_epoch().count();
    if ((properties_._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0 || published <= 0) return;
    properties_.timestamp = static_cast<std::uint64_t>(published) / 1'000'000;
    properties_._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
}

void properties_writer::set_headers() noexcept {
    if (entries_.empty()) return;
    properties_.headers = {static_cast<int>(entries_.size()), entries_.data()};
    properties_._flags |= AMQP_BASIC_HEADERS_FLAG;
}

/// Takes bytes from the error texts, from the longer one first; one of which nothing is left goes.
void properties_writer::shorten(std::size_t over) {
    const auto begin = entries_.begin();
    const auto text = [](amqp_table_entry_t& entry) -> amqp_bytes_t& { return entry.value.value.bytes; };
    std::size_t total = 0;
    for (std::size_t i = 0; i < error_texts_; ++i)
        total += text(begin[static_cast<std::ptrdiff_t>(i)]).len;
    std::size_t left = total > over ? total - over : 0;
    auto end = begin + static_cast<std::ptrdiff_t>(error_texts_);
    std::sort(begin, end, [&](auto& a, auto& b) { return text(a).len < text(b).len; });
    for (auto at = begin; at != end; ++at) {
        const auto share = left / static_cast<std::size_t>(end - at);
        text(*at) = bytes_of(detail::utf8_prefix(view_of(text(*at)), share));
        left -= text(*at).len;
    }
    entries_.erase(std::remove_if(begin, end, [&](auto& entry) { return text(entry).len == 0; }), end);
}

error properties_writer::fit(std::size_t room) {
    const auto whole = content_header_size(properties_);
    if (whole <= room) return {};
    shorten(whole - room);
    set_headers();
    const auto cut = content_header_size(properties_);
    if (cut <= room) return {};
    return {errc::too_large, "the headers and properties of a message take " + std::to_string(cut) +
                                 " bytes; one frame of this connection has room for " + std::to_string(room) +
                                 "; publish fewer or shorter headers, or raise frame_max here and at the broker"};
}

result<const amqp_basic_properties_t*> properties_writer::write(const message& msg, const spi::history* past,
                                                                const outgoing_context& context) {
    memory_.recycle();
    entries_.clear();
    properties_ = {};
    error_texts_ = 0;
    if (past != nullptr) add_history(*past);
    add_parts(msg);
    own_ = entries_.size();
    for (const auto& note : context.notes)
        add(note.name, to_field(note.value, 0, memory_));
    set_properties(msg);
    if (auto cause = add_headers(msg, context)) return cause;
    complete_properties(msg);
    set_headers();
    if (auto cause = fit(context.room)) return cause;
    return &properties_;
}

amqp_bytes_t body_of(const message& msg) noexcept {
    const auto payload = msg.payload();
    return bytes_of({reinterpret_cast<const char*>(payload.data()), payload.size()});
}

}  // namespace shove::rabbitmq_backend
