#include <shove/detail/json_text.hpp>
#include <shove/json.hpp>

#include <simdjson.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

// Any bytes are decoded as a struct that holds every kind of type. Checked beside memory safety:
// what decodes is valid JSON and comes back the same after encoding, and what is valid is what
// simdjson's own parser says is valid.
namespace {

enum class color { red, green };
BOOST_DESCRIBE_ENUM(color, red, green)

struct leaf {
    std::int8_t n = 0;
    friend bool operator==(const leaf&, const leaf&) = default;
};
BOOST_DESCRIBE_STRUCT(leaf, (), (n))

struct empty {
    friend bool operator==(const empty&, const empty&) = default;
};
BOOST_DESCRIBE_STRUCT(empty, (), ())

struct all {
    std::optional<std::string> s;
    std::optional<std::uint64_t> u;
    std::optional<std::int64_t> i;
    std::optional<double> d;
    std::optional<float> f;
    std::optional<color> c;
    std::optional<std::vector<std::byte>> b;
    std::optional<std::vector<all>> l;
    std::optional<std::map<std::string, leaf>> m;
    std::optional<std::map<std::int16_t, bool>> k;
    std::optional<std::variant<leaf, empty>> v;
    std::optional<std::tuple<int, std::string>> t;
    std::optional<std::array<int, 2>> a;
    std::optional<std::chrono::system_clock::time_point> w;
    friend bool operator==(const all&, const all&) = default;
};
BOOST_DESCRIBE_STRUCT(all, (), (s, u, i, d, f, c, b, l, m, k, v, t, a, w))

void check(bool ok) {
    if (!ok) std::abort();
}

void check_round_trip(const all& first, shove::decode_scratch& scratch) {
    std::string text;
    check(shove::json::encode(first, text).has_value());
    const auto bytes = std::as_bytes(std::span(text));
    check(shove::detail::is_valid_json(bytes, scratch));
    all second;
    check(shove::json::decode(bytes, second, scratch).has_value());
    check(first == second);
}

/// simdjson refuses numbers that no double or 64-bit integer holds; they are valid all the same.
void check_against_simdjson(std::span<const std::byte> bytes, bool valid) {
    static simdjson::dom::parser parser;
    const simdjson::padded_string copy(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto code = parser.parse(copy).error();
    if (code != simdjson::NUMBER_ERROR && code != simdjson::DEPTH_ERROR) check(valid == (code == simdjson::SUCCESS));
}

void check_compact(std::span<const std::byte> bytes, bool valid, shove::decode_scratch& scratch) {
    std::string compact;
    check(shove::detail::compact_json(bytes, compact, scratch) == valid);
    if (!valid) return;
    std::string again;
    check(shove::detail::compact_json(std::as_bytes(std::span(compact)), again, scratch));
    check(again == compact && compact.find('\n') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static shove::decode_scratch scratch;
    static all into;  // keeps the last input's values: they must not show through
    const auto bytes = std::as_bytes(std::span(data, size));
    const bool valid = shove::detail::is_valid_json(bytes, scratch);
    const auto result = shove::json::decode(bytes, into, scratch);
    check(valid || !result);
    if (result) check_round_trip(into, scratch);
    check_against_simdjson(bytes, valid);
    check_compact(bytes, valid, scratch);
    return 0;
}
