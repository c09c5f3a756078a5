#include <shove/detail/json_reader.hpp>

#include "json_scalar.hpp"

namespace shove::detail {

bool json_reader::fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
}

bool json_reader::fail_expected(std::string_view wanted) {
    const auto what = found();
    if (what.empty()) return fail_syntax();
    return fail("expected " + std::string(wanted) + ", found " + std::string(what));
}

bool json_reader::fail_syntax() {
    if (next_ == end_) return fail("the document ends too early");
    return fail("invalid JSON at byte " + std::to_string(*next_));
}

bool json_reader::fail_range(std::string_view least, std::string_view most) {
    return fail("expected an integer from " + std::string(least) + " to " + std::string(most) +
                ", found one out of range");
}

/// The kind of the next value; empty if there is no value.
std::string_view json_reader::found() const {
    switch (peek()) {
        case '{':
            return "an object";
        case '[':
            return "an array";
        case '"':
            return "a string";
        default:
            break;
    }
    const auto text = token();
    if (text == "true" || text == "false") return "a boolean";
    if (text == "null") return "null";
    return is_number(text) ? "a number" : "";
}

bool json_reader::in_member(std::string_view name) {
    path_.insert(0, name).insert(0, 1, '.');
    return false;
}

bool json_reader::in_index(std::size_t index) {
    path_.insert(0, "[" + std::to_string(index) + "]");
    return false;
}

bool json_reader::in_entry(std::size_t index) {
    path_.insert(0, "{" + std::to_string(index) + "}");
    return false;
}

std::string json_reader::problem() const {
    return "$" + path_ + ": " + reason_;
}

}  // namespace shove::detail
