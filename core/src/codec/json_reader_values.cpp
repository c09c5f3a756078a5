#include <shove/detail/json_reader.hpp>

#include "base64.hpp"
#include "json_scalar.hpp"
#include "json_scratch.hpp"
#include "rfc3339.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace shove::detail {
namespace {

const json_enumerator* find_name(std::string_view name, std::span<const json_enumerator> names) {
    const auto found = std::ranges::find(names, name, &json_enumerator::name);
    return found == names.end() ? nullptr : &*found;
}

/// `one of a, b, c`, cut after some.
template <class T>
std::string one_of(std::span<const T> all, std::string_view T::*name) {
    constexpr std::size_t most = 16;
    std::string text = "one of ";
    for (std::size_t i = 0; i < all.size() && i < most; ++i) {
        if (i != 0) text += ", ";
        text += (all[i].*name).empty() ? std::string_view("null") : all[i].*name;
    }
    return all.size() > most ? text + ", ..." : text;
}

}  // namespace

bool json_reader::boolean(bool& into) {
    const auto text = token();
    if (text != "true" && text != "false") return fail_expected("a boolean");
    into = text == "true";
    ++next_;
    return true;
}

bool json_reader::null() {
    if (peek() != 'n' || token() != "null") return false;
    ++next_;
    return true;
}

bool json_reader::signed_integer(std::int64_t& into, std::int64_t least, std::int64_t most) {
    const auto problem = parse_signed(token(), least, most, into);
    if (problem == number_problem::range) return fail_range(std::to_string(least), std::to_string(most));
    if (problem == number_problem::fraction) return fail("expected an integer, found a number with a fraction");
    if (problem == number_problem::syntax) return fail_expected("an integer");
    ++next_;
    return true;
}

bool json_reader::unsigned_integer(std::uint64_t& into, std::uint64_t most) {
    const auto problem = parse_unsigned(token(), most, into);
    if (problem == number_problem::range) return fail_range("0", std::to_string(most));
    if (problem == number_problem::fraction) return fail("expected an integer, found a number with a fraction");
    if (problem == number_problem::syntax) return fail_expected("an integer");
    ++next_;
    return true;
}

template <class T>
bool json_reader::floating(T& into) {
    const auto problem = parse_floating(token(), into);
    if (problem == number_problem::range) return fail("expected a number, found one out of range");
    if (problem == number_problem::syntax) return fail_expected("a number");
    ++next_;
    return true;
}

bool json_reader::number(double& into) {
    return floating(into);
}

bool json_reader::number(float& into) {
    return floating(into);
}

bool json_reader::string(std::string& into) {
    std::string_view text;
    if (!bounded_text("a string", text)) return false;
    into.assign(text);
    return true;
}

bool json_reader::bytes(std::vector<std::byte>& into) {
    std::string_view text;
    if (!bounded_text("a base64 string", text)) return false;
    into.resize(base64_decoded_size(text));
    return base64_decode(text, into.data()) || fail("expected a base64 string, found another string");
}

bool json_reader::bytes(std::span<std::byte> into) {
    std::string_view text;
    if (!bounded_text("a base64 string", text)) return false;
    if (text.size() == base64_size(into.size()) && base64_decoded_size(text) == into.size() &&
        base64_decode(text, into.data())) {
        return true;
    }
    return fail("expected a base64 string of " + std::to_string(into.size()) + " bytes, found another string");
}

bool json_reader::enumerator(std::uint64_t& into, std::span<const json_enumerator> names) {
    std::string_view text;
    if (peek() != '"') return fail_expected(one_of(names, &json_enumerator::name));
    if (!string_text("a string", text)) return false;
    return enumerator_key(text, into, names);
}

bool json_reader::time(std::int64_t& into, const json_time_unit& unit) {
    std::string_view text;
    if (!string_text("a time", text)) return false;
    const auto at = parse_rfc3339(text);
    if (!at) return fail("expected a time such as 2024-01-31T12:00:00Z, found another string");
    const auto count = count_from_moment(*at, unit.num, unit.den);
    if (!count || *count < unit.least || *count > unit.most) return fail("the time is out of range");
    into = *count;
    return true;
}

bool json_reader::variant(void* into, std::span<const json_alternative> alternatives) {
    const auto empty = std::ranges::find(alternatives, std::string_view(), &json_alternative::tag);
    if (empty != alternatives.end() && null()) return empty->select(into), true;
    if (peek() == '"') return unit_alternative(into, alternatives);
    return tagged_alternative(into, alternatives);
}

/// A bare tag.
bool json_reader::unit_alternative(void* into, std::span<const json_alternative> alternatives) {
    std::string_view tag;
    if (!string_text("a string", tag)) return false;
    const auto found = std::ranges::find(alternatives, tag, &json_alternative::tag);
    if (found == alternatives.end() || tag.empty()) {
        return fail("expected " + one_of(alternatives, &json_alternative::tag) + ", found another tag");
    }
    if (found->select == nullptr) return fail("expected an object for this tag, found the tag alone");
    found->select(into);
    return true;
}

/// An object with one member, whose key is the tag.
bool json_reader::tagged_alternative(void* into, std::span<const json_alternative> alternatives) {
    if (!enter('{', "an object with a tag")) return false;
    if (peek() == '}') return fail("expected an object with a tag, found an empty one");
    std::string_view tag;
    if (!key(tag) || !unescaped(tag, tag)) return false;
    const auto found = std::ranges::find(alternatives, tag, &json_alternative::tag);
    if (found == alternatives.end() || tag.empty()) {
        return fail("expected " + one_of(alternatives, &json_alternative::tag) + ", found another tag");
    }
    if (found->select != nullptr && null()) {
        found->select(into);
    } else if (!found->read(*this, into)) {
        return in_member(found->tag);
    }
    if (peek() == ',') return fail("expected an object with one tag, found more");
    return leave('}');
}

bool json_reader::signed_key(std::string_view key, std::int64_t& into, std::int64_t least, std::int64_t most) {
    const auto problem = key.starts_with("-0") ? number_problem::syntax : parse_signed(key, least, most, into);
    if (problem == number_problem::none) return true;
    if (problem == number_problem::range) return fail_range(std::to_string(least), std::to_string(most));
    return fail("expected an integer as the key, found another string");
}

bool json_reader::unsigned_key(std::string_view key, std::uint64_t& into, std::uint64_t most) {
    const auto problem = key.starts_with("-0") ? number_problem::syntax : parse_unsigned(key, most, into);
    if (problem == number_problem::none) return true;
    if (problem == number_problem::range) return fail_range("0", std::to_string(most));
    return fail("expected an integer as the key, found another string");
}

bool json_reader::enumerator_key(std::string_view key, std::uint64_t& into, std::span<const json_enumerator> names) {
    const auto* const found = find_name(key, names);
    if (found == nullptr) return fail("expected " + one_of(names, &json_enumerator::name) + ", found another string");
    into = found->value;
    return true;
}

bool json_reader::duplicate_key() {
    return fail("a duplicate key");
}

}  // namespace shove::detail
