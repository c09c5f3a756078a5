#pragma once

#include <shove/json.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace json_types {

enum class color : std::int8_t { red = -1, green, blue };
BOOST_DESCRIBE_ENUM(color, red, green, blue)

BOOST_DEFINE_ENUM_CLASS(level, low, high)

enum class gap { known = 1, unknown = 2 };
BOOST_DESCRIBE_ENUM(gap, known)

struct line {
    std::string item;
    double price = 0;
    std::optional<std::string> note;
    friend bool operator==(const line&, const line&) = default;
};
BOOST_DESCRIBE_STRUCT(line, (), (item, price, note))

struct base {
    std::int32_t version = 0;
    friend bool operator==(const base&, const base&) = default;
};
BOOST_DESCRIBE_STRUCT(base, (), (version))

struct order : base {
    std::string id;
    std::vector<line> lines;
    std::map<std::string, std::int64_t> counts;
    friend bool operator==(const order&, const order&) = default;
};
BOOST_DESCRIBE_STRUCT(order, (base), (id, lines, counts))

struct circle {
    double radius = 0;
    friend bool operator==(const circle&, const circle&) = default;
};
BOOST_DESCRIBE_STRUCT(circle, (), (radius))

struct named_shape {
    static constexpr std::string_view json_tag = "NamedShape";
    std::string name;
    friend bool operator==(const named_shape&, const named_shape&) = default;
};
BOOST_DESCRIBE_STRUCT(named_shape, (), (name))

struct nothing {
    friend bool operator==(const nothing&, const nothing&) = default;
};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

using shape = std::variant<circle, named_shape, nothing>;
using maybe_shape = std::variant<std::monostate, circle>;

class account {
public:
    account() = default;
    explicit account(std::string owner) : owner_(std::move(owner)) {}
    friend bool operator==(const account&, const account&) = default;

private:
    std::string owner_;
    BOOST_DESCRIBE_CLASS(account, (), (), (), (owner_))
};

struct tree {
    std::vector<tree> children;
    friend bool operator==(const tree&, const tree&) = default;
};
BOOST_DESCRIBE_STRUCT(tree, (), (children))

/// One value, as the field `v`.
template <class T>
struct box {
    T v{};
    friend bool operator==(const box&, const box&) = default;
    BOOST_DESCRIBE_CLASS(box, (), (v), (), ())
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// The JSON of a value, or `error: ` and the detail.
template <class T>
std::string encoded(const T& value) {
    std::string out;
    const auto result = shove::json::encode(value, out);
    if (result) return out;
    EXPECT_EQ(out, "");
    EXPECT_EQ(result.error(), shove::errc::encode_failed);
    return "error: " + result.error().detail;
}

/// Decodes into `into`; the detail of the error, empty without one.
template <class T, class Codec = shove::json>
std::string decode_into(std::string_view text, T& into) {
    shove::decode_scratch scratch;
    const auto result = Codec::decode(bytes_of(text), into, scratch);
    if (result) return {};
    EXPECT_EQ(result.error(), shove::errc::decode_failed);
    return result.error().detail;
}

/// The detail of the error that decoding `text` as a `T` gives.
template <class T, class Codec = shove::json>
std::string problem(std::string_view text) {
    T into{};
    return decode_into<T, Codec>(text, into);
}

template <class T>
T decoded(std::string_view text) {
    T into{};
    EXPECT_EQ(decode_into(text, into), "") << text;
    return into;
}

/// Expects that the value has this JSON, in both directions.
template <class T>
void expect_json(const T& value, std::string_view text) {
    EXPECT_EQ(encoded(value), text);
    EXPECT_EQ(decoded<T>(text), value) << text;
}

}  // namespace json_types
