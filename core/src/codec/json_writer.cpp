#include <shove/detail/json_writer.hpp>

#include <shove/detail/json_encode.hpp>

#include "base64.hpp"
#include "digits.hpp"
#include "rfc3339.hpp"
#include "small_text.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

namespace shove::detail {

json_writer::json_writer(std::string& out, const json_limits& limits) : out_(out), limits_(limits) {}

json_writer::~json_writer() {
    flush();
}

void json_writer::flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
}

void json_writer::put(const char* text, std::size_t size) {
    if (size > buffer_.size()) {
        flush();
        out_.append(text, size);
        return;
    }
    std::memcpy(room(size), text, size);
    used_ += size;
}

bool json_writer::begin(char open) {
    if (depth_ == limits_.max_depth) {
        return fail("arrays and objects more than " + std::to_string(limits_.max_depth) + " levels deep");
    }
    ++depth_;
    separate();
    put(open);
    comma_ = false;
    return true;
}

void json_writer::end(char close) {
    --depth_;
    put(close);
    comma_ = true;
}

void json_writer::plain_key(std::string_view name) {
    separate();
    put('"');
    put(name.data(), name.size());
    put("\":", 2);
    comma_ = false;
}

void json_writer::prepared_key(const json_prepared_key& key) {
    const std::size_t skipped = comma_ ? 0 : 1;
    comma_ = false;
    if (key.size > 16) return put(key.text + skipped, key.size - skipped);
    char* const at = room(17);
    at[0] = ',';
    std::memcpy(at + 1 - skipped, key.text + 1, 15);
    used_ += key.size - skipped;
}

bool json_writer::key(std::string_view name) {
    if (!string(name)) return false;
    put(':');
    comma_ = false;
    return true;
}

void json_writer::null() {
    raw_json("null");
}

void json_writer::boolean(bool value) {
    raw_json(value ? "true" : "false");
}

void json_writer::integer(std::int64_t value) {
    separate();
    const auto magnitude = static_cast<std::uint64_t>(value);
    if (value < 0) put('-');
    put_digits(value < 0 ? 0 - magnitude : magnitude);
}

void json_writer::unsigned_integer(std::uint64_t value) {
    separate();
    put_digits(value);
}

void json_writer::put_digits(std::uint64_t value) {
    char* const first = room(digits_room);
    used_ += static_cast<std::size_t>(write_digits(first, value) - first);
}

template <class T>
bool json_writer::floating(T value) {
    if (!std::isfinite(value)) return fail("JSON has no form for a number that is not finite");
    separate();
    char* const at = room(32);
    used_ += static_cast<std::size_t>(std::to_chars(at, at + 32, value).ptr - at);
    return true;
}

bool json_writer::number(double value) {
    return floating(value);
}

bool json_writer::number(float value) {
    return floating(value);
}

bool json_writer::bytes(std::span<const std::byte> value) {
    const auto size = base64_size(value.size());
    if (!fits(size)) return false;
    separate();
    put('"');
    flush();
    const auto before = out_.size();
    out_.resize(before + size);
    base64_encode(value, out_.data() + before);
    put('"');
    return true;
}

bool json_writer::time(std::int64_t count, std::int64_t num, std::int64_t den) {
    std::array<char, rfc3339_size> text;
    const auto at = moment_from_count(count, num, den);
    const auto size = at ? format_rfc3339(*at, text) : 0;
    if (size == 0) return fail("the time is outside the years 0 to 9999");
    separate();
    put('"');
    put(text.data(), size);
    put('"');
    return true;
}

void json_writer::raw_json(std::string_view value) {
    separate();
    put(value.data(), value.size());
}

bool json_writer::fits(std::size_t size) {
    return size <= limits_.max_string_bytes ||
           fail("a string of more than " + std::to_string(limits_.max_string_bytes) + " bytes");
}

bool json_writer::fail(std::string_view reason) {
    if (reason_.empty()) reason_ = reason;
    return false;
}

bool json_writer::in_member(std::string_view name) {
    path_.insert(0, name).insert(0, 1, '.');
    return false;
}

bool json_writer::in_index(std::size_t index) {
    path_.insert(0, "[" + std::to_string(index) + "]");
    return false;
}

bool json_writer::in_entry(std::size_t index) {
    path_.insert(0, "{" + std::to_string(index) + "}");
    return false;
}

std::string json_writer::problem() const {
    return reason_.empty() ? std::string() : "$" + path_ + ": " + reason_;
}

std::string_view json_name_of(std::uint64_t value, std::span<const json_enumerator> names) {
    for (const auto& each : names) {
        if (each.value == value) return each.name;
    }
    return {};
}

namespace {

std::string encode_problem(const void* from, std::string& out, const json_limits& limits,
                           bool (*write)(json_writer&, const void* from)) {
    const auto before = out.size();
    json_writer writer(out, limits);
    if (!write(writer, from)) return writer.problem();
    writer.flush();
    if (out.size() - before <= limits.max_document_bytes) return {};
    return "$: a document of more than " + std::to_string(limits.max_document_bytes) + " bytes";
}

}  // namespace

result<void> json_encode(const void* from, std::string& out, const json_limits& limits,
                         bool (*write)(json_writer&, const void* from)) {
    const auto before = out.size();
    auto problem = encode_problem(from, out, limits, write);
    if (problem.empty()) return {};
    out.resize(before);
    return error(errc::encode_failed, std::move(problem));
}

}  // namespace shove::detail
