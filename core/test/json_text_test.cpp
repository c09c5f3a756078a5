#include <gtest/gtest.h>

#include <shove/detail/json_text.hpp>
#include <shove/detail/json_writer.hpp>

#include "../src/codec/json_scratch.hpp"

#include <cmath>
#include <string>
#include <string_view>

// JSON by hand: the writer, the validator, the reprinter; and the scratch memory.
namespace {

using shove::detail::json_writer;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

bool valid(std::string_view text) {
    return shove::detail::is_valid_json(bytes_of(text));
}

std::string compact(std::string_view text) {
    std::string out = "> ";
    return shove::detail::compact_json(bytes_of(text), out) ? out : "invalid " + out;
}

TEST(json_text, tells_valid_from_invalid) {
    for (const auto* text : {"1", " null ", "\"\"", "[]", "{}", "{\"a\":{\"a\":[1,-2.5e-3,\"\\u20ac\"]},\"a\":2}"}) {
        EXPECT_TRUE(valid(text)) << text;
    }
    for (const auto* text : {"", " ", "1 1", "[1,]", "{\"a\"}", "\"\\ud800\"", "\"\xC3\"", "01", "nul", "{} x"}) {
        EXPECT_FALSE(valid(text)) << text;
    }
    EXPECT_TRUE(valid(std::string(1024, '[') + std::string(1024, ']')));
    EXPECT_FALSE(valid(std::string(1025, '[') + std::string(1025, ']')));
}

TEST(json_text, puts_a_document_on_one_line) {
    EXPECT_EQ(compact(" { \"a b\" : [ 1.50 , 1E+2 ,\r\n\t\"x \\n\\u0041\" ] , \"c\" : { } } \n"),
              "> {\"a b\":[1.50,1E+2,\"x \\n\\u0041\"],\"c\":{}}");
    EXPECT_EQ(compact(" 12345678901234567890123 "), "> 12345678901234567890123");
    EXPECT_EQ(compact("[1,"), "invalid > ");
}

TEST(json_text, writes_by_hand) {
    std::string out = "line ";
    json_writer writer(out);
    writer.begin_object();
    EXPECT_TRUE(writer.key("a\"b"));
    writer.begin_array();
    writer.integer(-1);
    writer.unsigned_integer(UINT64_MAX);
    EXPECT_TRUE(writer.number(0.5));
    writer.boolean(true);
    writer.null();
    writer.begin_array();
    writer.end_array();
    writer.end_array();
    writer.plain_key("raw");
    writer.raw_json("{\"x\":1}");
    writer.plain_key("o");
    writer.begin_object();
    writer.end_object();
    writer.end_object();
    writer.flush();
    EXPECT_EQ(out, R"(line {"a\"b":[-1,18446744073709551615,0.5,true,null,[]],"raw":{"x":1},"o":{}})");
    EXPECT_EQ(writer.problem(), "");
}

TEST(json_text, the_writer_refuses_and_goes_on) {
    std::string out;
    json_writer writer(out);
    writer.begin_array();
    EXPECT_FALSE(writer.string("\xFF"));
    EXPECT_FALSE(writer.number(NAN));
    EXPECT_TRUE(writer.lossy_string("a\xFF\xE2\x82 \xC3\xA4\n"));
    EXPECT_TRUE(writer.lossy_string("\xED\xA0\x80"));
    writer.end_array();
    writer.flush();
    EXPECT_EQ(out, "[\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xC3\xA4\\n\",\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"]");
    EXPECT_EQ(writer.problem(), "$: invalid UTF-8 in a string");
}

TEST(json_text, the_destructor_completes_the_text) {
    std::string out;
    json_writer(out).integer(1);
    EXPECT_EQ(out, "1");
}

TEST(json_text, scratch_memory_is_used_again_after_large_documents_and_failures) {
    shove::decode_scratch scratch;
    const std::string big = "[\"" + std::string(3 << 20, 'x') + "\"";
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(shove::detail::is_valid_json(bytes_of("[1,2]"), scratch));
        EXPECT_TRUE(shove::detail::is_valid_json(bytes_of(big + "]"), scratch));
        EXPECT_LE(scratch.json().capacity(), std::size_t{1} << 20);
        EXPECT_FALSE(shove::detail::is_valid_json(bytes_of(big), scratch));
        EXPECT_LE(scratch.json().capacity(), std::size_t{1} << 20);
        EXPECT_FALSE(shove::detail::is_valid_json(bytes_of(""), scratch));
    }
    shove::decode_scratch moved = std::move(scratch);
    EXPECT_TRUE(shove::detail::is_valid_json(bytes_of("1"), moved));
    EXPECT_TRUE(shove::detail::is_valid_json(bytes_of("1"), scratch));  // NOLINT(bugprone-use-after-move)
}

}  // namespace
