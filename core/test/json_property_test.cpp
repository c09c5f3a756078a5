#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json_types.hpp"

#include <shove/detail/json_text.hpp>

#include <algorithm>
#include <cmath>

// Random values come back as they were; random damage never gets through unnoticed.
namespace {

using namespace json_types;

enum class mood { calm, busy, lost };
BOOST_DESCRIBE_ENUM(mood, calm, busy, lost)

struct inner {
    std::int16_t small = 0;
    std::optional<bool> maybe;
    std::vector<std::byte> blob;
    friend bool operator==(const inner&, const inner&) = default;
};
BOOST_DESCRIBE_STRUCT(inner, (), (small, maybe, blob))

struct everything {
    std::string text;
    std::uint64_t big = 0;
    std::int64_t negative = 0;
    double real = 0;
    float single = 0;
    mood how = mood::calm;
    std::vector<inner> list;
    std::map<std::string, inner> map;
    std::map<std::int32_t, std::string> numbered;
    std::variant<std::monostate, inner, nothing> choice;
    std::tuple<std::uint8_t, std::string, std::optional<std::string>> tuple;
    std::chrono::system_clock::time_point when;
    std::chrono::microseconds took{0};
    friend bool operator==(const everything&, const everything&) = default;
};
BOOST_DESCRIBE_STRUCT(everything, (),
                      (text, big, negative, real, single, how, list, map, numbered, choice, tuple, when, took))

/// Any text in UTF-8, with many characters that need an escape.
rc::Gen<std::string> any_text() {
    const auto character = rc::gen::oneOf(rc::gen::inRange<int>(0, 0x80), rc::gen::inRange<int>(0x80, 0xD800),
                                          rc::gen::inRange<int>(0xE000, 0x110000), rc::gen::just<int>('"'));
    return rc::gen::map(rc::gen::container<std::vector<int>>(character), [](const std::vector<int>& points) {
        std::string json = "\"";
        for (const int point : points) {
            const int high = point < 0x10000 ? point : 0xD800 + ((point - 0x10000) >> 10);
            std::array<char, 16> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(high));
            json += escape.data();
            if (point < 0x10000) continue;
            std::snprintf(escape.data(), escape.size(), "\\u%04X", 0xDC00U + (static_cast<unsigned>(point) & 0x3FFU));
            json += escape.data();
        }
        return decoded<std::string>(json + '"');
    });
}

template <class Float, class Bits>
Float any_finite() {
    const auto value = std::bit_cast<Float>(*rc::gen::arbitrary<Bits>());
    return std::isfinite(value) ? value : Float{1};
}

inner any_inner() {
    inner it;
    it.small = *rc::gen::arbitrary<std::int16_t>();
    if (*rc::gen::arbitrary<bool>()) it.maybe = *rc::gen::arbitrary<bool>();
    for (const auto byte : *rc::gen::arbitrary<std::vector<std::uint8_t>>())
        it.blob.push_back(std::byte{byte});
    return it;
}

everything any_everything() {
    everything it;
    it.text = *any_text();
    it.big = *rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(), rc::gen::just(UINT64_MAX),
                             rc::gen::just(UINT64_MAX / 2 + 1));
    it.negative = *rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(), rc::gen::just(INT64_MIN));
    it.real = any_finite<double, std::uint64_t>();
    it.single = any_finite<float, std::uint32_t>();
    it.how = *rc::gen::element(mood::calm, mood::busy, mood::lost);
    for (auto n = *rc::gen::inRange(0, 4); n > 0; --n)
        it.list.push_back(any_inner());
    for (auto n = *rc::gen::inRange(0, 4); n > 0; --n)
        it.map[*any_text()] = any_inner();
    for (auto n = *rc::gen::inRange(0, 4); n > 0; --n)
        it.numbered[*rc::gen::arbitrary<std::int32_t>()] = *any_text();
    const auto which = *rc::gen::inRange(0, 3);
    if (which == 1) it.choice = any_inner();
    if (which == 2) it.choice = nothing{};
    it.tuple = {*rc::gen::arbitrary<std::uint8_t>(), *any_text(), *any_text()};
    it.when = std::chrono::system_clock::time_point(std::chrono::nanoseconds(*rc::gen::arbitrary<std::int64_t>()));
    it.took = std::chrono::microseconds(*rc::gen::arbitrary<std::int64_t>());
    return it;
}

bool is_valid(std::string_view text) {
    return shove::detail::is_valid_json(bytes_of(text));
}

RC_GTEST_PROP(json_property, what_is_encoded_is_valid_and_decodes_to_the_same, ()) {
    const auto it = any_everything();
    std::string out;
    RC_ASSERT(shove::json::encode(it, out).has_value());
    RC_ASSERT(is_valid(out));
    RC_ASSERT(decoded<everything>(out) == it);
}

RC_GTEST_PROP(json_property, the_targets_old_value_does_not_matter, ()) {
    const auto it = any_everything();
    auto into = any_everything();
    RC_ASSERT(decode_into(encoded(it), into).empty());
    RC_ASSERT(into == it);
}

RC_GTEST_PROP(json_property, a_document_printed_on_one_line_means_the_same, ()) {
    const auto it = any_everything();
    const auto text = encoded(it);
    std::string spaced;
    bool quoted = false;
    bool escaped = false;
    for (const char c : text) {
        if (c == '"' && !escaped) quoted = !quoted;
        escaped = c == '\\' && !escaped;
        spaced += c;
        const bool between = std::string_view("{}[],:").find(c) != std::string_view::npos;
        if (!quoted && between) spaced += *rc::gen::element<std::string>("", " ", "\n\t", "  \r\n");
    }
    std::string compact;
    RC_ASSERT(shove::detail::compact_json(bytes_of(spaced), compact));
    RC_ASSERT(compact == text);
}

RC_GTEST_PROP(json_property, damaged_documents_decode_only_if_they_are_valid, ()) {
    auto text = encoded(any_everything());
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto with =
        *rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('"', '\\', '{', '}', '[', ']', ',', ':', '0'));
    if (*rc::gen::arbitrary<bool>()) {
        text[at] = with;
    } else {
        text.erase(at, *rc::gen::inRange<std::size_t>(1, 4));
    }
    everything into;
    if (decode_into(text, into).empty()) RC_ASSERT(is_valid(text));
}

RC_GTEST_PROP(json_property, any_bytes_as_a_string_are_written_or_refused, (const std::vector<std::uint8_t>& bytes)) {
    const std::string text(bytes.begin(), bytes.end());
    std::string out;
    if (!shove::json::encode(text, out)) return;
    RC_ASSERT(is_valid(out));
    RC_ASSERT(decoded<std::string>(out) == text);
}

}  // namespace
