#include <gtest/gtest.h>

#include "json_types.hpp"

#include <cmath>
#include <limits>
#include <list>

// Every type that has a JSON form, in both directions.
namespace {

using namespace json_types;
using namespace std::chrono_literals;
using std::chrono::system_clock;

static_assert(shove::codec_for<shove::json, order>);
static_assert(shove::json::content_type == "application/json");

TEST(json, writes_and_reads_a_struct_with_bases_lists_and_maps) {
    order it;
    it.version = 3;
    it.id = "o-1";
    it.lines = {{"pen", 1.5, std::nullopt}, {"ink", 2, "blue"}};
    it.counts = {{"a", 1}, {"b", -2}};
    expect_json(it, R"({"version":3,"id":"o-1","lines":[{"item":"pen","price":1.5,"note":null},)"
                    R"({"item":"ink","price":2,"note":"blue"}],"counts":{"a":1,"b":-2}})");
}

TEST(json, reads_fields_in_any_order_with_white_space_and_escaped_names) {
    const auto it = decoded<line>(" {\r\n\t\"price\" : 1 , \"\\u0069tem\":\"x\" } \n");
    EXPECT_EQ(it, (line{"x", 1, std::nullopt}));
}

TEST(json, ignores_unknown_fields_whatever_they_hold) {
    const auto it = decoded<line>(
        R"({"x":{"item":[1,{"item":2}],"x":null},"item":"a","y":[[],{},"\n",true,false,-0.5e+3],"x":1,"price":2})");
    EXPECT_EQ(it, (line{"a", 2, std::nullopt}));
}

TEST(json, a_missing_or_null_optional_is_empty_even_where_one_was) {
    line into{"old", 9, "old"};
    EXPECT_EQ(decode_into(R"({"item":"a","price":2})", into), "");
    EXPECT_EQ(into.note, std::nullopt);
    into.note = "old";
    EXPECT_EQ(decode_into(R"({"item":"a","price":2,"note":null})", into), "");
    EXPECT_EQ(into.note, std::nullopt);
}

TEST(json, replaces_what_the_target_held) {
    order into;
    into.lines.resize(3, {"old", 1, "old"});
    into.counts = {{"old", 1}};
    EXPECT_EQ(decode_into(R"({"version":1,"id":"n","lines":[{"item":"i","price":2}],"counts":{"n":1}})", into), "");
    EXPECT_EQ(into.lines, (std::vector<line>{{"i", 2, std::nullopt}}));
    EXPECT_EQ(into.counts, (std::map<std::string, std::int64_t>{{"n", 1}}));
}

TEST(json, keeps_the_memory_of_the_target) {
    box<std::string> into;
    into.v.reserve(1000);
    const auto* const memory = into.v.data();
    EXPECT_EQ(decode_into(R"({"v":")" + std::string(900, 'x') + R"("})", into), "");
    EXPECT_EQ(into.v.data(), memory);
}

TEST(json, appends_to_the_output) {
    std::string out = "before ";
    ASSERT_TRUE(shove::json::encode(box<int>{1}, out));
    EXPECT_EQ(out, R"(before {"v":1})");
    EXPECT_FALSE(shove::json::encode(box<double>{NAN}, out));
    EXPECT_EQ(out, R"(before {"v":1})");
}

TEST(json, a_message_need_not_be_a_struct) {
    expect_json(std::vector<int>{1, 2}, "[1,2]");
    expect_json(std::string("x"), "\"x\"");
    expect_json(true, "true");
    expect_json(std::optional<int>(), "null");
}

template <class T>
void expect_limits() {
    using limits = std::numeric_limits<T>;
    expect_json(box<T>{limits::min()}, "{\"v\":" + std::to_string(limits::min()) + "}");
    expect_json(box<T>{limits::max()}, "{\"v\":" + std::to_string(limits::max()) + "}");
}

TEST(json, integers_are_exact_to_their_limits) {
    expect_limits<std::int8_t>();
    expect_limits<std::uint8_t>();
    expect_limits<std::int16_t>();
    expect_limits<std::uint16_t>();
    expect_limits<std::int32_t>();
    expect_limits<std::uint32_t>();
    expect_limits<std::int64_t>();
    expect_limits<std::uint64_t>();
    expect_limits<long long>();
    expect_json(std::uint64_t{9'223'372'036'854'775'808U}, "9223372036854775808");
    for (std::uint64_t n = 1; n < 1'000'000'000'000'000'000U; n *= 10)
        expect_json(n + n / 3, std::to_string(n + n / 3));
    EXPECT_EQ(decoded<int>("-0"), 0);
    EXPECT_EQ(decoded<unsigned>("-0"), 0U);
}

TEST(json, floats_are_exact) {
    expect_json(0.1, "0.1");
    expect_json(-0.0, "-0");
    EXPECT_TRUE(std::signbit(decoded<double>("-0")));
    expect_json(1e300, "1e+300");
    expect_json(5e-324, "5e-324");
    expect_json(0.1F, "0.1");
    expect_json(std::numeric_limits<double>::max(), "1.7976931348623157e+308");
    expect_json(std::numeric_limits<float>::max(), "3.4028235e+38");
    expect_json(std::numeric_limits<float>::denorm_min(), "1e-45");
    EXPECT_EQ(decoded<double>("1E2"), 100);
    EXPECT_EQ(decoded<double>("9007199254740993"), 9007199254740992.0);
    EXPECT_EQ(decoded<double>("1e-400"), 0);
    EXPECT_TRUE(std::signbit(decoded<double>("-1e-400")));
    EXPECT_EQ(decoded<float>("1e-60"), 0);
    EXPECT_EQ(decoded<double>("0e999999999999"), 0);
    EXPECT_EQ(decoded<double>("1e-99999999999999999999"), 0);
    EXPECT_EQ(decoded<double>("0.01e-9223372036854775808"), 0);
    EXPECT_EQ(decoded<double>("1" + std::string(400, '0') + "e-400"), 1);
    EXPECT_EQ(decoded<double>("0." + std::string(400, '0') + "1e401"), 1);
}

TEST(json, strings_hold_every_character) {
    std::string all;
    for (int c = 0; c < 128; ++c)
        all += static_cast<char>(c);
    all += "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
    EXPECT_EQ(decoded<std::string>(encoded(all)), all);
    expect_json(std::string("\"\\\b\f\n\r\t\x01\x1F\x7F", 10), "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\"");
    expect_json(std::string("a\0b", 3), R"("a\u0000b")");
    EXPECT_EQ(decoded<std::string>(R"("\/\u00e4\u20AC\ud83d\uDE00")"), "/\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(json, a_character_to_escape_is_found_at_every_place) {
    for (std::size_t size = 1; size < 70; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (const char special : {'\n', '"', '\\', '\x1F', '\0'}) {
                std::string text(size, 'x');
                text[at] = special;
                ASSERT_EQ(decoded<std::string>(encoded(text)), text);
            }
        }
    }
}

struct names {
    int a = 0, twelve_bytes = 0, thirteen_byte = 0, a_name_that_is_longer_than_sixteen_bytes = 0;
    friend bool operator==(const names&, const names&) = default;
};
BOOST_DESCRIBE_STRUCT(names, (), (a_name_that_is_longer_than_sixteen_bytes, a, thirteen_byte, twelve_bytes))

TEST(json, names_of_every_length_are_written) {
    expect_json(names{1, 2, 3, 4}, R"({"a_name_that_is_longer_than_sixteen_bytes":4,"a":1,"thirteen_byte":3,)"
                                   R"("twelve_bytes":2})");
    for (std::size_t size = 0; size < 20; ++size) {
        expect_json(std::map<std::string, int>{{std::string(size, 'k'), 1}}, "{\"" + std::string(size, 'k') + "\":1}");
    }
    const std::vector<names> many(100, names{1, 2, 3, 4});
    EXPECT_EQ(decoded<std::vector<names>>(encoded(many)), many);
}

TEST(json, long_texts_pass_the_writers_buffer) {
    for (std::size_t size = 480; size < 540; ++size) {
        const box<std::pair<std::string, std::string>> it{{std::string(size, 'a'), std::string(size, '\n')}};
        ASSERT_EQ(decoded<decltype(it.v)>(encoded(it.v)), it.v);
    }
}

TEST(json, enums_go_by_name) {
    expect_json(color::red, "\"red\"");
    expect_json(std::vector{level::low, level::high}, R"(["low","high"])");
    EXPECT_EQ(decoded<color>(R"("\u0062lue")"), color::blue);
}

TEST(json, maps_have_strings_integers_or_enums_as_keys) {
    expect_json(std::map<std::string, bool>{{"", true}, {"a\n", false}}, R"({"":true,"a\n":false})");
    expect_json(std::map<int, int>{{-5, 1}, {0, 2}}, R"({"-5":1,"0":2})");
    expect_json(std::map<std::uint64_t, int>{{UINT64_MAX, 1}}, R"({"18446744073709551615":1})");
    expect_json(std::map<color, int>{{color::red, 1}, {color::blue, 2}}, R"({"red":1,"blue":2})");
    expect_json(std::unordered_map<std::string, line>{{"k", {"i", 1, {}}}},
                R"({"k":{"item":"i","price":1,"note":null}})");
    expect_json(std::map<std::string, int>{}, "{}");
}

TEST(json, variants_go_by_tag) {
    expect_json(shape(circle{2}), R"({"circle":{"radius":2}})");
    expect_json(shape(named_shape{"n"}), R"({"NamedShape":{"name":"n"}})");
    expect_json(shape(nothing{}), "\"nothing\"");
    EXPECT_EQ(decoded<shape>(R"({"nothing":null})"), shape(nothing{}));
    EXPECT_EQ(decoded<shape>(R"({"nothing":{}})"), shape(nothing{}));
    expect_json(maybe_shape(), "null");
    expect_json(maybe_shape(circle{1}), R"({"circle":{"radius":1}})");
    shape into = circle{1};
    EXPECT_EQ(decode_into(R"({"NamedShape":{"name":"x"}})", into), "");
    EXPECT_EQ(into, shape(named_shape{"x"}));
}

TEST(json, arrays_pairs_and_tuples_are_arrays) {
    expect_json(std::array<int, 3>{1, 2, 3}, "[1,2,3]");
    expect_json(std::array<int, 0>{}, "[]");
    expect_json(std::pair<int, std::string>{1, "a"}, R"([1,"a"])");
    expect_json(std::tuple<int, bool, line>{1, true, {"i", 2, {}}}, R"([1,true,{"item":"i","price":2,"note":null}])");
    expect_json(std::tuple<>{}, "[]");
}

TEST(json, sequences_are_arrays) {
    expect_json(std::vector<bool>{true, false, true}, "[true,false,true]");
    expect_json(std::deque<int>{1, 2}, "[1,2]");
    expect_json(std::list<int>{1, 2}, "[1,2]");
    expect_json(std::vector<std::vector<int>>{{}, {1}, {2, 3}}, "[[],[1],[2,3]]");
    expect_json(std::vector<std::optional<int>>{1, {}, 3}, "[1,null,3]");
    std::list<int> into{7, 8, 9};
    EXPECT_EQ(decode_into("[1]", into), "");
    EXPECT_EQ(into, std::list<int>{1});
}

std::vector<std::byte> bytes(std::string_view text) {
    const auto view = bytes_of(text);
    return {view.begin(), view.end()};
}

TEST(json, bytes_are_base64) {
    expect_json(bytes(""), "\"\"");
    expect_json(bytes("f"), "\"Zg==\"");
    expect_json(bytes("fo"), "\"Zm8=\"");
    expect_json(bytes("foo"), "\"Zm9v\"");
    expect_json(bytes("\xFB\xFF\xBF"), "\"+/+/\"");
    EXPECT_EQ(decoded<std::vector<std::byte>>(R"("\u002b\/+/")"), bytes("\xFB\xFF\xBF"));
    expect_json(std::array<std::byte, 2>{std::byte{'f'}, std::byte{'o'}}, "\"Zm8=\"");
    std::vector<std::byte> all;
    for (int i = 0; i < 1000; ++i)
        all.push_back(static_cast<std::byte>(i));
    EXPECT_EQ(decoded<std::vector<std::byte>>(encoded(all)), all);
}

TEST(json, durations_count_their_own_unit) {
    expect_json(std::chrono::milliseconds(-1500), "-1500");
    expect_json(std::chrono::hours(2), "2");
    expect_json(std::chrono::duration<double>(0.5), "0.5");
}

TEST(json, times_are_rfc_3339) {
    using std::chrono::sys_days;
    const auto day = sys_days(std::chrono::year(2024) / 2 / 29);
    expect_json(system_clock::time_point(day + 12h + 1ns), "\"2024-02-29T12:00:00.000000001Z\"");
    expect_json(system_clock::time_point(day + 1500us), "\"2024-02-29T00:00:00.001500Z\"");
    expect_json(system_clock::time_point(sys_days(std::chrono::year(1969) / 12 / 31) + 23h + 500ms),
                "\"1969-12-31T23:00:00.500Z\"");
    expect_json(std::chrono::sys_seconds(day), "\"2024-02-29T00:00:00Z\"");
    expect_json(std::chrono::sys_days(day), "\"2024-02-29T00:00:00Z\"");
    expect_json(std::chrono::sys_seconds(sys_days(std::chrono::year(9999) / 12 / 31)), "\"9999-12-31T00:00:00Z\"");
    expect_json(system_clock::time_point::min(), "\"1677-09-21T00:12:43.145224192Z\"");
    expect_json(system_clock::time_point::max(), "\"2262-04-11T23:47:16.854775807Z\"");
}

TEST(json, times_are_read_with_offsets_fractions_and_leap_seconds) {
    const auto noon = decoded<std::chrono::sys_seconds>("\"2024-02-29T12:00:00Z\"");
    EXPECT_EQ(decoded<std::chrono::sys_seconds>("\"2024-02-29t14:30:00+02:30\""), noon);
    EXPECT_EQ(decoded<std::chrono::sys_seconds>("\"2024-02-29T11:00:00-01:00\""), noon);
    EXPECT_EQ(decoded<std::chrono::sys_seconds>("\"2024-02-29T12:00:00.999z\""), noon);
    EXPECT_EQ(decoded<system_clock::time_point>("\"2024-02-29T12:00:00.1234567891234Z\""), noon + 123456789ns);
    EXPECT_EQ(decoded<std::chrono::sys_seconds>("\"2016-12-31T23:59:60Z\""),
              decoded<std::chrono::sys_seconds>("\"2017-01-01T00:00:00Z\""));
    EXPECT_EQ(decoded<std::chrono::sys_days>("\"1969-12-31T23:00:00Z\"").time_since_epoch().count(), -1);
}

TEST(json, private_members_and_recursive_types_work) {
    expect_json(account("me"), R"({"owner_":"me"})");
    expect_json(tree{{tree{}, tree{{tree{}}}}}, R"({"children":[{"children":[]},{"children":[{"children":[]}]}]})");
}

}  // namespace
