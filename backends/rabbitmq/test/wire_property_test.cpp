// Random messages, histories and foreign tables come back as they were.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <string>

#include "field.hpp"
#include "header_codec.hpp"
#include "wire_names.hpp"
#include "wire_support.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;

std::string any_bytes(std::size_t most) {
    auto bytes = *rc::gen::arbitrary<std::string>();
    bytes.resize(std::min(bytes.size(), most));
    return bytes;
}

std::string any_text(std::size_t most) {
    static const std::string pieces[] = {
        "a", "Z", " ", "\n", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x90\x87", std::string(1, '\0')};
    std::string text;
    for (const auto which : *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 8))) {
        if (text.size() + pieces[which].size() <= most) text += pieces[which];
    }
    return text;
}

wall_time any_time() {
    return wall_time(std::chrono::microseconds(*rc::gen::arbitrary<std::int64_t>()));
}

/// Holds what fields point to.
struct field_source {
    std::deque<std::string> texts;
    std::deque<std::vector<amqp_field_value_t>> lists;
    std::deque<table_builder> tables;

    amqp_field_value_t any(int depth = 0) {
        static const std::string kinds = "tbBsuIilLTfdDSxVAF";
        const char kind = kinds[*rc::gen::inRange<std::size_t>(0, kinds.size() - (depth > 2 ? 2 : 0))];
        const auto bits = *rc::gen::arbitrary<std::uint64_t>();
        switch (kind) {
            case 'S':
            case 'x':
                texts.push_back(kind == 'S' && bits % 4 != 0 ? any_text(50) : any_bytes(50));
                return bytes(kind, texts.back());
            case 'D':
                return decimal(static_cast<std::uint8_t>(bits), static_cast<std::uint32_t>(bits >> 8));
            case 'V':
                return nothing();
            case 't':
                return number('t', bits % 2);
            case 'A': {
                std::vector<amqp_field_value_t> entries(bits % 4);
                for (auto& entry : entries)
                    entry = any(depth + 1);
                lists.push_back(std::move(entries));
                return list(lists.back());
            }
            case 'F': {
                table_builder table = any_table(bits % 4, depth + 1);
                tables.push_back(std::move(table));
                return tables.back().as_field();
            }
            default:
                return number(kind, bits);
        }
    }

    table_builder any_table(std::size_t entries, int depth = 0) {
        table_builder table;
        for (std::size_t i = 0; i < entries; ++i) {
            texts.push_back(*rc::gen::element(std::string("a"), std::string("b"), std::string("CC"),
                                              std::string("x-retry-count"), std::string("x-shove-key"),
                                              std::string("x-shove-amqp-priority"), any_bytes(255)));
            const auto& name = texts.back();
            table.add(name, any(depth));
        }
        return table;
    }
};

message any_message(field_source& source) {
    message_parts parts;
    const auto id = any_bytes(255), key = any_bytes(500), type = any_text(255), body = any_bytes(500);
    headers mine;
    std::string scratch;
    for (auto left = *rc::gen::inRange(0, 8); left > 0; --left) {
        auto name = any_bytes(255);
        if (name.empty() || is_reserved_header(name)) name = "n";
        auto shown = show_field(source.any(), scratch);
        const auto text = any_text(10);
        if (shown.letter != 0) shown.value = text;  // of our own messages only the plain types
        mine.add(name, shown.value);
    }
    parts.id = id;
    if (*rc::gen::arbitrary<bool>()) parts.key = key;
    parts.type = type;
    parts.content_type = *rc::gen::element("", "application/json", "text/x-other");
    parts.payload = std::as_bytes(std::span(body));
    parts.headers = mine;
    parts.published_at = any_time();
    parts.expires_at = any_time();
    return message::make(parts);
}

spi::history any_history() {
    spi::history past;
    past.retries = *rc::gen::arbitrary<std::uint32_t>();
    past.crashes = *rc::gen::arbitrary<std::uint32_t>();
    past.first_error = any_text(spi::history::max_error_bytes);
    past.last_error = any_text(spi::history::max_error_bytes);
    past.first_failed_at = any_time();
    past.last_failed_at = any_time();
    past.death_reason = *rc::gen::element<std::string>("", "rejected", "expired", "oversize");
    past.original_queue = any_text(200);
    past.death_count = *rc::gen::inRange<std::uint32_t>(0, 5);
    past.dead_at = any_time();
    return past;
}

RC_GTEST_PROP(wire_property_test, any_message_with_any_history_comes_as_it_went, ()) {
    field_source source;
    const auto msg = any_message(source);
    const auto past = any_history();
    const auto made = over_the_wire(msg, &past, from_dead_letters);
    RC_ASSERT(same(made.msg, msg));
    RC_ASSERT(same(made.past.get(), &past));
}

/// True if nothing in the table bears a name that means something to us.
bool is_plain(const amqp_table_t& table) {
    for (int i = 0; i < table.num_entries; ++i) {
        const auto name = view_of(table.entries[i].key);
        if (name.starts_with("x-") || name == "CC" || name == "BCC") return false;
    }
    return true;
}

RC_GTEST_PROP(wire_property_test, any_foreign_table_comes_out_byte_for_byte, ()) {
    field_source source;
    auto table = source.any_table(*rc::gen::inRange<std::size_t>(0, 12));
    const auto original = table.properties();
    const auto first = sent(read(original).msg);
    if (is_plain(original.headers)) RC_ASSERT(foreign_table(first->properties()) == foreign_table(original));
    const auto made = read(first->properties());
    const auto second = sent(made.msg, made.past.get());
    RC_ASSERT(encoded(second->properties()) == encoded(first->properties()));
}

}  // namespace

}  // namespace shove::rabbitmq_test
