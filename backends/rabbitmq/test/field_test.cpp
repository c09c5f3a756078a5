// AMQP values as bytes and as headers.

#include <shove/detail/utf8.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "field.hpp"
#include "field_codec.hpp"
#include "header_codec.hpp"
#include "wire_support.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;
using detail::is_utf8;
using detail::utf8_prefix;

/// What `encode_field` must make: the library's own bytes of a table with this one entry, without size and name.
std::string by_the_library(const amqp_field_value_t& field) {
    table_builder table;
    table.add("n", field);
    return encoded(table.table()).substr(4 + 2);
}

std::vector<amqp_field_value_t> every_kind() {
    return {number('t', 1),
            number('t', 0),
            number('b', 0x80),
            number('B', 0xFF),
            number('s', 0x8000),
            number('u', 0xFFFF),
            number('I', 0x80000000u),
            number('i', 0xFFFFFFFFu),
            number('l', 0x8000000000000000u),
            number('L', std::numeric_limits<std::uint64_t>::max()),
            number('L', 7),
            number('T', std::numeric_limits<std::uint64_t>::max()),
            number('T', 1'700'000'000),
            single(1.5F),
            single(std::numeric_limits<float>::infinity()),
            single(-0.0F),
            floating(0.1),
            floating(std::numeric_limits<double>::quiet_NaN()),
            decimal(2, 314),
            bytes('S', "text"),
            bytes('S', ""),
            bytes('S', "\xC3\x28"),
            bytes('x', std::string_view("\0\1", 2)),
            nothing()};
}

TEST(field_test, encodes_as_the_library_does) {
    auto scalars = every_kind();
    auto all = scalars;
    table_builder table;
    for (const auto& field : scalars)
        table.add("name", field);
    auto nested = std::vector<amqp_field_value_t>{table.as_field(), list(scalars), number('B', 3)};
    all.push_back(table.as_field());
    all.push_back(list(nested));
    std::vector<amqp_field_value_t> none;
    all.push_back(list(none));
    all.push_back(table_builder().as_field());
    for (const auto& field : all) {
        std::string mine;
        encode_field(field, mine);
        EXPECT_EQ(mine, by_the_library(field)) << static_cast<char>(field.kind);
        pool memory;
        amqp_field_value_t back{};
        ASSERT_TRUE(decode_field(mine, memory, back)) << static_cast<char>(field.kind);
        EXPECT_EQ(by_the_library(back), mine);
        table_builder one;
        one.add("n", back);
        EXPECT_EQ(encoded_size(one.table()), 4 + 2 + mine.size());
    }
}

TEST(field_test, shows_every_kind_and_makes_it_again) {
    std::string scratch;
    for (const auto& field : every_kind()) {
        const auto shown = show_field(field, scratch);
        pool memory;
        EXPECT_EQ(by_the_library(to_field(shown.value, shown.letter, memory)), by_the_library(field))
            << static_cast<char>(field.kind);
    }
}

TEST(field_test, shows_what_people_expect) {
    std::string scratch;
    const auto shown = [&](const amqp_field_value_t& field) { return show_field(field, scratch).value; };
    EXPECT_EQ(shown(number('b', 0x80)), header_value(std::int64_t{-128}));
    EXPECT_EQ(shown(number('B', 0x80)), header_value(std::int64_t{128}));
    EXPECT_EQ(shown(number('T', 9)), header_value(std::int64_t{9}));
    EXPECT_EQ(shown(number('t', 1)), header_value(true));
    EXPECT_EQ(shown(single(0.5F)), header_value(0.5));
    EXPECT_EQ(shown(bytes('S', "a")), header_value("a"));
    EXPECT_EQ(shown(bytes('S', "\xFF")).type(), header_type::binary);
    EXPECT_EQ(shown(decimal(1, 2)).type(), header_type::foreign);
    EXPECT_EQ(shown(number('L', std::uint64_t{1} << 63)).type(), header_type::foreign);
    EXPECT_EQ(shown(nothing()).type(), header_type::none);
}

TEST(field_test, a_signalling_nan_keeps_its_bits) {
    auto field = single(0);
    field.value.u32 = 0x7F800001u;
    std::string scratch;
    const auto shown = show_field(field, scratch);
    EXPECT_EQ(shown.value.type(), header_type::foreign);
    pool memory;
    EXPECT_EQ(to_field(shown.value, shown.letter, memory).value.u32, 0x7F800001u);
}

TEST(field_test, a_noted_type_holds_only_for_what_fits) {
    pool memory;
    const auto kind = [&](const header_value& value, char letter) {
        return static_cast<char>(to_field(value, letter, memory).kind);
    };
    EXPECT_EQ(kind(std::int64_t{127}, 'b'), 'b');
    EXPECT_EQ(kind(std::int64_t{128}, 'b'), 'l');
    EXPECT_EQ(kind(std::int64_t{-1}, 'B'), 'l');
    EXPECT_EQ(kind(std::int64_t{-1}, 'T'), 'l');
    EXPECT_EQ(kind(std::int64_t{1} << 32, 'i'), 'l');
    EXPECT_EQ(kind(std::int64_t{1}, 'f'), 'l');
    EXPECT_EQ(kind(std::int64_t{1}, 'Z'), 'l');
    EXPECT_EQ(kind(0.1, 'f'), 'd');
    EXPECT_EQ(kind(1e300, 'f'), 'd');
    EXPECT_EQ(kind(0.5, 'f'), 'f');
    EXPECT_EQ(kind(0.5, 'I'), 'd');
    EXPECT_EQ(kind("text", 'I'), 'S');
    EXPECT_EQ(kind(true, 'I'), 't');
}

std::string nested_arrays(int depth) {
    std::string text(1, 'V');
    for (int i = 0; i < depth; ++i) {
        std::string outer = "A";
        for (int shift = 24; shift >= 0; shift -= 8)
            outer.push_back(static_cast<char>(text.size() >> shift & 0xFF));
        text = outer + text;
    }
    return text;
}

TEST(field_test, refuses_what_is_malformed_or_too_deep) {
    pool memory;
    amqp_field_value_t into{};
    using namespace std::string_literals;
    for (const auto& text :
         {""s, "?"s, "t"s, "V!"s, "l\0\0\0\0\0\0\0"s, "S\0\0\0\2a"s, "S\xFF\xFF\xFF\xFF"s, "A\0\0\0\1?"s, "A\0\0\0\1t"s,
          "A\0\0\0\2VV!"s, "F\0\0\0\1\1"s, "F\0\0\0\3\1nt"s, "F\0\0\0\2\xFFV"s, "D\0\0\0\0"s}) {
        EXPECT_FALSE(decode_field(text, memory, into)) << text;
    }
    EXPECT_TRUE(decode_field(nested_arrays(max_field_depth), memory, into));
    EXPECT_FALSE(decode_field(nested_arrays(max_field_depth + 1), memory, into));
    EXPECT_FALSE(decode_field(nested_arrays(10'000), memory, into));
}

TEST(field_test, encodes_any_depth) {
    std::vector<amqp_field_value_t> levels(20'001, nothing());
    for (std::size_t i = 1; i < levels.size(); ++i) {
        levels[i].kind = AMQP_FIELD_KIND_ARRAY;
        levels[i].value.array = {1, &levels[i - 1]};
    }
    std::string mine;
    encode_field(levels.back(), mine);
    EXPECT_EQ(mine, nested_arrays(20'000));
}

TEST(field_test, counts_are_squeezed_into_their_range) {
    EXPECT_EQ(count_of(number('b', 0x80)), 0u);
    EXPECT_EQ(count_of(number('l', std::uint64_t{1} << 40)), 0xFFFFFFFFu);
    EXPECT_EQ(count_of(number('L', std::uint64_t{1} << 63)), 0xFFFFFFFFu);
    EXPECT_EQ(count_of(number('T', 3)), std::nullopt);
    EXPECT_EQ(count_of(bytes('S', "3")), std::nullopt);
    EXPECT_EQ(count_of(number('t', 1)), std::nullopt);
}

TEST(field_test, knows_utf8) {
    for (const auto* text : {"", "plain ascii of some length", "\xC3\xA4", "eight...\xE2\x82\xAC", "\xF0\x9F\x90\x87",
                             "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"}) {
        EXPECT_TRUE(is_utf8(text)) << text;
    }
    for (const auto* text : {"\x80", "\xC3", "\xC0\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                             "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "12345678\xFF", "\xE2\x82", "\xC3\x28"}) {
        EXPECT_FALSE(is_utf8(text)) << text;
    }
    EXPECT_EQ(utf8_prefix("a\xE2\x82\xAC", 3), "a");
    EXPECT_EQ(utf8_prefix("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
    EXPECT_EQ(utf8_prefix("\xE2\x82\xAC", 1), "");
}

}  // namespace

}  // namespace shove::rabbitmq_test
