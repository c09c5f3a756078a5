#include <gtest/gtest.h>

#include <shove/json.hpp>

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// The code of docs/guide/codecs.md.
namespace {

enum class currency { eur, usd };
BOOST_DESCRIBE_ENUM(currency, eur, usd)

struct order_line {
    std::string item;
    double price = 0;
    std::optional<std::string> note;
};
BOOST_DESCRIBE_STRUCT(order_line, (), (item, price, note))

struct order_paid {
    std::string id;
    currency paid_in = currency::eur;
    std::vector<order_line> lines;
};
BOOST_DESCRIBE_STRUCT(order_paid, (), (id, paid_in, lines))

TEST(codecs_guide, json) {
    std::string text;
    const auto encoded = shove::json::encode(order_paid{"ORD-1", currency::usd, {{"pen", 1.5, {}}}}, text);
    EXPECT_TRUE(encoded);
    EXPECT_EQ(text, R"({"id":"ORD-1","paid_in":"usd","lines":[{"item":"pen","price":1.5,"note":null}]})");

    order_paid order;
    shove::decode_scratch scratch;  // keep it: its memory is used again
    const auto decoded = shove::json::decode(std::as_bytes(std::span(text)), order, scratch);
    if (!decoded) std::cerr << decoded.error().message() << '\n';
    EXPECT_TRUE(decoded);
    EXPECT_EQ(order.id, "ORD-1");
    EXPECT_EQ(order.lines.at(0).price, 1.5);
}

namespace payment {
struct card {
    std::string last_digits;
};
BOOST_DESCRIBE_STRUCT(card, (), (last_digits))

struct invoice {
    static constexpr std::string_view json_tag = "Invoice";  // where the other side has another name
    int days = 30;
};
BOOST_DESCRIBE_STRUCT(invoice, (), (days))

struct cash {};
BOOST_DESCRIBE_STRUCT(cash, (), ())
}  // namespace payment

using paid_by = std::variant<payment::card, payment::invoice, payment::cash>;

std::string written(const paid_by& value) {
    std::string text;
    EXPECT_TRUE(shove::json::encode(value, text));
    return text;
}

TEST(codecs_guide, variants) {
    EXPECT_EQ(written(payment::card{"0042"}), R"({"card":{"last_digits":"0042"}})");
    EXPECT_EQ(written(payment::invoice{14}), R"({"Invoice":{"days":14}})");
    EXPECT_EQ(written(payment::cash{}), R"("cash")");
}

using small_json = shove::basic_json<shove::json_limits{.max_depth = 8, .max_string_bytes = 1024}>;

TEST(codecs_guide, limits) {
    std::string out;
    EXPECT_TRUE(small_json::encode(std::string(1024, 'x'), out));
    EXPECT_FALSE(small_json::encode(std::string(1025, 'x'), out));
}

struct tick {
    std::uint32_t price = 0;
};

struct tick_codec {
    static constexpr std::string_view content_type = "application/x-tick";

    static shove::result<void> encode(const tick& from, std::string& out) {
        for (int shift = 24; shift >= 0; shift -= 8)
            out += static_cast<char>(from.price >> shift & 0xFF);
        return {};
    }

    static shove::result<void> decode(std::span<const std::byte> bytes, tick& into, shove::decode_scratch&) {
        if (bytes.size() != 4) return shove::error(shove::errc::decode_failed, "a tick has 4 bytes");
        into.price = 0;
        for (const std::byte each : bytes)
            into.price = into.price << 8 | std::to_integer<std::uint32_t>(each);
        return {};
    }
};
static_assert(shove::codec_for<tick_codec, tick>);

TEST(codecs_guide, your_own) {
    std::string out;
    EXPECT_TRUE(tick_codec::encode(tick{0x12345678}, out));
    tick into;
    shove::decode_scratch scratch;
    EXPECT_TRUE(tick_codec::decode(std::as_bytes(std::span(out)), into, scratch));
    EXPECT_EQ(into.price, 0x12345678U);
    EXPECT_FALSE(tick_codec::decode({}, into, scratch));
}

}  // namespace
