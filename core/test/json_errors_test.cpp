#include <gtest/gtest.h>

#include "json_types.hpp"

#include <cmath>
#include <limits>

// What is refused, with which path and which words, and that no value is quoted.
namespace {

using namespace json_types;

template <class T>
using list = std::vector<T>;

std::string nested(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}

TEST(json_errors, a_missing_field_is_named) {
    EXPECT_EQ(problem<line>("{}"), "$.item: the required field is missing");
    EXPECT_EQ(problem<line>(R"({"item":"a"})"), "$.price: the required field is missing");
    EXPECT_EQ(problem<order>(R"({"version":1,"id":"x","lines":[{"item":"a","price":1},{"item":"b"}],"counts":{}})"),
              "$.lines[1].price: the required field is missing");
    EXPECT_EQ(problem<order>(R"({"id":"x","lines":[],"counts":{}})"), "$.version: the required field is missing");
}

TEST(json_errors, a_wrong_type_is_named) {
    EXPECT_EQ(problem<box<int>>(R"({"v":"secret"})"), "$.v: expected an integer, found a string");
    EXPECT_EQ(problem<box<int>>(R"({"v":1.0})"), "$.v: expected an integer, found a number with a fraction");
    EXPECT_EQ(problem<box<int>>(R"({"v":1e2})"), "$.v: expected an integer, found a number with a fraction");
    EXPECT_EQ(problem<box<int>>(R"({"v":null})"), "$.v: expected an integer, found null");
    EXPECT_EQ(problem<box<double>>(R"({"v":true})"), "$.v: expected a number, found a boolean");
    EXPECT_EQ(problem<box<bool>>(R"({"v":0})"), "$.v: expected a boolean, found a number");
    EXPECT_EQ(problem<box<std::string>>(R"({"v":[1]})"), "$.v: expected a string, found an array");
    EXPECT_EQ(problem<box<list<int>>>(R"({"v":{}})"), "$.v: expected an array, found an object");
    EXPECT_EQ(problem<box<line>>(R"({"v":[]})"), "$.v: expected an object, found an array");
    EXPECT_EQ(problem<box<list<int>>>(R"({"v":[1,2,"x"]})"), "$.v[2]: expected an integer, found a string");
    EXPECT_EQ((problem<box<std::map<std::string, int>>>(R"({"v":{"secret":1,"other":"x"}})")),
              "$.v{1}: expected an integer, found a string");
    EXPECT_EQ(problem<line>("[]"), "$: expected an object, found an array");
    EXPECT_EQ(problem<box<std::optional<int>>>(R"({"v":"x"})"), "$.v: expected an integer, found a string");
}

TEST(json_errors, a_number_out_of_range_is_refused) {
    EXPECT_EQ(problem<std::int8_t>("128"), "$: expected an integer from -128 to 127, found one out of range");
    EXPECT_EQ(problem<std::int8_t>("-129"), "$: expected an integer from -128 to 127, found one out of range");
    EXPECT_EQ(problem<std::uint8_t>("256"), "$: expected an integer from 0 to 255, found one out of range");
    EXPECT_EQ(problem<std::uint32_t>("-1"), "$: expected an integer from 0 to 4294967295, found one out of range");
    EXPECT_NE(problem<std::int64_t>("9223372036854775808"), "");
    EXPECT_NE(problem<std::int64_t>("-9223372036854775809"), "");
    EXPECT_NE(problem<std::uint64_t>("18446744073709551616"), "");
    EXPECT_NE(problem<std::uint64_t>("99999999999999999999999999"), "");
    EXPECT_EQ(problem<double>("1e400"), "$: expected a number, found one out of range");
    for (const auto& text :
         {std::string("-1e400"), std::string("1e+99999999999999999999"), std::string("0.01e350"),
          std::string("1e9223372036854775807"), "1" + std::string(400, '0'), "1" + std::string(400, '0') + "e-40"}) {
        EXPECT_EQ(problem<double>(text), "$: expected a number, found one out of range");
    }
    EXPECT_EQ(problem<float>("3.5e38"), "$: expected a number, found one out of range");
    EXPECT_EQ(problem<std::chrono::duration<std::int8_t>>("128"),
              "$: expected an integer from -128 to 127, found one out of range");
}

TEST(json_errors, unknown_names_and_tags_are_refused) {
    EXPECT_EQ(problem<color>("\"secret\""), "$: expected one of red, green, blue, found another string");
    EXPECT_EQ(problem<color>("1"), "$: expected one of red, green, blue, found a number");
    EXPECT_EQ((problem<std::map<color, int>>(R"({"secret":1})")),
              "${0}: expected one of red, green, blue, found another string");
    EXPECT_EQ(problem<shape>(R"({"secret":{}})"), "$: expected one of circle, NamedShape, nothing, found another tag");
    EXPECT_EQ(problem<shape>("\"secret\""), "$: expected one of circle, NamedShape, nothing, found another tag");
    EXPECT_EQ(problem<shape>("\"circle\""), "$: expected an object for this tag, found the tag alone");
    EXPECT_EQ(problem<shape>("{}"), "$: expected an object with a tag, found an empty one");
    EXPECT_EQ(problem<shape>("null"), "$: expected an object with a tag, found null");
    EXPECT_EQ(problem<shape>(R"({"circle":{"radius":1},"x":1})"), "$: expected an object with one tag, found more");
    EXPECT_EQ(problem<box<shape>>(R"({"v":{"circle":{"radius":"x"}}})"),
              "$.v.circle.radius: expected a number, found a string");
    EXPECT_EQ(problem<maybe_shape>(R"({"":null})"), "$: expected one of null, circle, found another tag");
}

TEST(json_errors, duplicate_keys_are_refused) {
    EXPECT_EQ(problem<line>(R"({"item":"a","price":1,"item":"a"})"), "$.item: a duplicate key");
    EXPECT_EQ(problem<line>(R"({"item":"a","price":1,"\u0069tem":"a"})"), "$.item: a duplicate key");
    EXPECT_EQ((problem<std::map<std::string, int>>(R"({"a":1,"a":2})")), "${1}: a duplicate key");
    EXPECT_EQ((problem<std::map<int, int>>(R"({"1":1,"1":2})")), "${1}: a duplicate key");
}

TEST(json_errors, keys_that_are_no_integers_are_refused) {
    for (const auto* key : {"x", "", "01", "-0", "1.0", "+1", " 1", "1 "}) {
        EXPECT_EQ((problem<std::map<int, int>>("{\"" + std::string(key) + "\":1}")),
                  "${0}: expected an integer as the key, found another string");
        EXPECT_EQ((problem<std::map<unsigned, int>>("{\"" + std::string(key) + "\":1}")),
                  "${0}: expected an integer as the key, found another string");
    }
    EXPECT_EQ((problem<std::map<std::int8_t, int>>(R"({"200":1})")),
              "${0}: expected an integer from -128 to 127, found one out of range");
}

TEST(json_errors, arrays_of_the_wrong_size_are_refused) {
    EXPECT_EQ((problem<std::array<int, 2>>("[1]")), "$: expected an array of 2 elements, found 1");
    EXPECT_EQ((problem<std::array<int, 2>>("[1,2,3]")), "$: expected an array of 2 elements, found more");
    EXPECT_EQ((problem<std::pair<int, int>>("[]")), "$: expected an array of 2 elements, found 0");
    EXPECT_EQ((problem<std::tuple<int, bool>>("[1,2]")), "$[1]: expected a boolean, found a number");
}

TEST(json_errors, bad_base64_is_refused) {
    for (const auto* text : {"A", "AB", "ABC", "A===", "====", "=", "AB=C",
                             "ABCD=", "AB==AB==", "AB*=", "AC==", "A B=", "Zm9=", "-_-_", "Zg"}) {
        EXPECT_EQ(problem<list<std::byte>>("\"" + std::string(text) + "\""),
                  "$: expected a base64 string, found another string")
            << text;
    }
    EXPECT_EQ((problem<std::array<std::byte, 2>>("\"Zg==\"")),
              "$: expected a base64 string of 2 bytes, found another string");
    EXPECT_EQ(problem<list<std::byte>>("[1]"), "$: expected a base64 string, found an array");
}

TEST(json_errors, bad_times_are_refused) {
    for (const auto* text :
         {"", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-13-01T00:00:00Z",
          "2024-00-01T00:00:00Z", "2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
          "2024-01-01T00:00:61Z", "2024-01-01T12:00:60Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+0100",
          "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00Zx", "24-01-01T00:00:00Z", "2024-1-01T00:00:00Z",
          "+024-01-01T00:00:00Z", "2024-01-01T00:00Z"}) {
        EXPECT_EQ(problem<std::chrono::sys_seconds>("\"" + std::string(text) + "\""),
                  "$: expected a time such as 2024-01-31T12:00:00Z, found another string")
            << text;
    }
    EXPECT_EQ(problem<std::chrono::system_clock::time_point>("\"2263-01-01T00:00:00Z\""),
              "$: the time is out of range");
    EXPECT_EQ(problem<std::chrono::sys_seconds>("17"), "$: expected a time, found a number");
}

TEST(json_errors, malformed_documents_are_refused) {
    for (const auto* text : {" ",
                             "{",
                             "}",
                             "[",
                             "]",
                             "[1",
                             "[1,",
                             "[1,]",
                             "[,1]",
                             "[1 2]",
                             "[1,,2]",
                             "{\"v\"}",
                             "{\"v\":}",
                             "{\"v\":1",
                             "{\"v\":1,}",
                             "{,}",
                             "{v:1}",
                             "{\"v\" 1}",
                             "{\"v\"::1}",
                             "{1:1}",
                             "tru",
                             "truex",
                             "nul",
                             "nulll",
                             "True",
                             "NaN",
                             "Infinity",
                             "-",
                             "+1",
                             "01",
                             "-01",
                             "1.",
                             ".5",
                             "1.e1",
                             "1e",
                             "1e+",
                             "0x1",
                             "1_0",
                             "1x",
                             "1\"a\"",
                             "\"a\"b",
                             "\"a\"\"b\"",
                             "'a'",
                             "\"a",
                             "\"",
                             "\\\"a\"",
                             "\"a\\\"",
                             "[1]]",
                             "{}{}",
                             "1 2",
                             "//x\n1",
                             "\f1",
                             "\x1A",
                             "\xEF\xBB\xBF{}",
                             "[\"a\":1]",
                             "{\"a\",1}",
                             "[}",
                             "{]",
                             "\"\\x\"",
                             "\"\\u12\"",
                             "\"\\u123g\"",
                             "\"\\ud800\"",
                             "\"\\ud800x\"",
                             "\"\\ud800\\n\"",
                             "\"\\ud800\\ud800\"",
                             "\"\\udc00\"",
                             "\"a\nb\"",
                             "\"a\tb\"",
                             "\"\x01\"",
                             "\"\xFF\"",
                             "\"\xC0\x80\"",
                             "\"\xED\xA0\x80\"",
                             "\"\xF4\x90\x80\x80\"",
                             "\"\xE2\x82\"",
                             "\xFF"}) {
        const std::string inner(text);
        EXPECT_NE(problem<box<std::optional<int>>>("{\"x\":" + inner + "}"), "") << inner;
        EXPECT_NE(problem<box<std::optional<int>>>("{\"v\":" + inner + "}"), "") << inner;
        EXPECT_NE(problem<box<std::optional<std::string>>>("{\"v\":" + inner + "}"), "") << inner;
        EXPECT_NE(problem<list<int>>(inner), "") << inner;
        EXPECT_NE(problem<std::string>(inner), "") << inner;
        EXPECT_NE(problem<double>(inner), "") << inner;
        EXPECT_NE(problem<bool>(inner), "") << inner;
    }
}

TEST(json_errors, malformed_documents_say_where) {
    EXPECT_EQ(problem<int>(""), "$: the document is empty");
    EXPECT_EQ(problem<list<int>>("[1,"), "$[1]: the document ends too early");
    EXPECT_EQ(problem<list<int>>("[1,x]"), "$[1]: invalid JSON at byte 3");
    EXPECT_EQ(problem<int>("1 x"), "$: invalid JSON at byte 2");
    EXPECT_EQ(problem<int>(std::string_view("1\0", 2)), "$: invalid JSON at byte 0");
    EXPECT_EQ(problem<int>(std::string_view("1 \0", 3)), "$: invalid JSON at byte 2");
    EXPECT_EQ(problem<std::string>("\"\xFF\""), "$: invalid UTF-8");
    EXPECT_EQ(problem<std::string>("\"\n\""), "$: a control character inside a string");
    EXPECT_EQ(problem<std::string>("\"a"), "$: a string that does not end");
    EXPECT_EQ(problem<box<std::string>>(R"({"v":"\q"})"), "$.v: an invalid escape in a string");
}

using small = shove::basic_json<shove::json_limits{.max_depth = 3, .max_string_bytes = 4, .max_document_bytes = 40}>;

TEST(json_errors, depth_is_limited) {
    EXPECT_EQ(problem<line>("{\"x\":" + nested(63) + ",\"item\":\"a\",\"price\":1}"), "");
    EXPECT_EQ(problem<line>("{\"x\":" + nested(64) + ",\"item\":\"a\",\"price\":1}"),
              "$: arrays and objects more than 64 levels deep");
    EXPECT_EQ(problem<line>("{\"x\":" + nested(1'000'000) + "}"), "$: arrays and objects more than 64 levels deep");
    EXPECT_EQ((problem<list<list<list<int>>>, small>("[[[1]]]")), "");
    EXPECT_EQ((problem<list<list<list<list<int>>>>, small>("[[[[1]]]]")),
              "$[0][0][0]: arrays and objects more than 3 levels deep");
    EXPECT_EQ((problem<list<int>, small>(R"([1])")), "");
    EXPECT_EQ((problem<box<list<list<int>>>, small>(R"({"v":[[],[],[],[1]]})")), "");
}

TEST(json_errors, sizes_are_limited) {
    EXPECT_EQ((problem<std::string, small>("\"abcd\"")), "");
    EXPECT_EQ((problem<std::string, small>("\"\\n\\n\\n\\n\"")), "");
    EXPECT_EQ((problem<std::string, small>("\"abcde\"")), "$: a string of more than 4 bytes");
    EXPECT_EQ((problem<std::map<std::string, int>, small>(R"({"abcde":1})")),
              "${0}: the key is longer than a string may be");
    EXPECT_EQ((problem<list<std::byte>, small>("\"Zm9vZm9v\"")), "$: a string of more than 4 bytes");
    EXPECT_EQ((problem<int, small>("1" + std::string(39, ' '))), "");
    EXPECT_EQ((problem<int, small>("1" + std::string(40, ' '))), "$: a document of more than 40 bytes");
}

template <class T>
std::string small_encoded(const T& value) {
    std::string out;
    const auto result = small::encode(value, out);
    return result ? out : result.error().detail;
}

TEST(json_errors, the_encoder_has_the_same_limits) {
    EXPECT_EQ(small_encoded(list<list<list<list<int>>>>{{{{}}}}),
              "$[0][0][0]: arrays and objects more than 3 levels deep");
    EXPECT_EQ(small_encoded(std::string("abcd")), "\"abcd\"");
    EXPECT_EQ(small_encoded(box<std::string>{"abcde"}), "$.v: a string of more than 4 bytes");
    EXPECT_EQ(small_encoded(std::map<std::string, int>{{"abcde", 1}}), "${0}: a string of more than 4 bytes");
    EXPECT_EQ(small_encoded(list<std::byte>(4)), "$: a string of more than 4 bytes");
    EXPECT_EQ(small_encoded(list<int>(20)), "$: a document of more than 40 bytes");
    tree deep;
    for (int i = 0; i < 32; ++i)
        deep = tree{{deep}};
    EXPECT_TRUE(encoded(deep).ends_with(": arrays and objects more than 64 levels deep"));
}

TEST(json_errors, the_encoder_names_what_it_cannot_write) {
    order it;
    it.lines = {{"a", 1, {}}, {"b", std::numeric_limits<double>::infinity(), {}}};
    EXPECT_EQ(encoded(it), "error: $.lines[1].price: JSON has no form for a number that is not finite");
    it.lines = {{"a", 1, "\xFF"}};
    EXPECT_EQ(encoded(it), "error: $.lines[0].note: invalid UTF-8 in a string");
    it.lines = {};
    it.counts = {{"a", 1}, {"\xC3", 1}};
    EXPECT_EQ(encoded(it), "error: $.counts{1}: invalid UTF-8 in a string");
    EXPECT_EQ(encoded(box<float>{NAN}), "error: $.v: JSON has no form for a number that is not finite");
    EXPECT_EQ(encoded(gap::unknown), "error: $: the enum has no name for this value");
    EXPECT_EQ(encoded(std::map<gap, int>{{gap::unknown, 1}}), "error: ${0}: the enum has no name for this key");
    EXPECT_EQ(encoded(shape(circle{NAN})), "error: $.circle.radius: JSON has no form for a number that is not finite");
    EXPECT_EQ(encoded(std::chrono::sys_seconds(std::chrono::seconds(253'402'300'800))),
              "error: $: the time is outside the years 0 to 9999");
    EXPECT_EQ(encoded(std::pair<int, double>(1, NAN)), "error: $[1]: JSON has no form for a number that is not finite");
}

}  // namespace
