#include <shove/wire_envelope.hpp>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "lease_check.hpp"

namespace shove {
namespace {

constexpr std::string_view magic = "RLMWIRE";
constexpr char version = 1;
constexpr std::size_t most_headers = 32;
/// All but the payload at its longest: magic, version, integers, five texts, 32 headers of 8,192 bytes.
constexpr std::size_t most_overhead = 9'026;
/// The last millisecond of `wall_time`, in the year 294247.
constexpr auto most_ms = std::chrono::floor<milliseconds>(wall_time::max().time_since_epoch()).count();

error malformed(std::string_view where) {
    return {errc::invalid_envelope, "no wire envelope: " + std::string(where)};
}
error malformed(const error& why) {
    return malformed(why.message());
}

class writer {
public:
    explicit writer(std::size_t size) { out_.reserve(size); }
    void raw(std::string_view bytes) { out_ += bytes; }
    void number(std::uint64_t value, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
            out_ += static_cast<char>(value >> shift & 0xFFU);
    }
    void text(std::string_view value) {
        number(value.size(), 2);
        raw(value);
    }
    std::string take() { return std::move(out_); }

private:
    std::string out_;
};

/// Reads fields; once one is not there, `failed` stays true and the others are empty.
class reader {
public:
    explicit reader(std::string_view bytes) : rest_(bytes) {}
    std::string_view raw(std::uint64_t size) {
        if (size > rest_.size()) {
            failed_ = true;
            rest_ = {};
            return {};
        }
        const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        for (const char c : raw(bytes))
            value = value << 8U | static_cast<unsigned char>(c);
        return value;
    }
    std::string_view text() { return raw(number(2)); }
    bool failed() const noexcept { return failed_; }
    std::size_t left() const noexcept { return rest_.size(); }

private:
    std::string_view rest_;
    bool failed_ = false;
};

/// The rules that both ways share. `headers` are in order of their names after it.
error check_envelope(const lease_envelope& envelope, const wire_limits& limits, std::vector<header>& headers) {
    if (envelope.name_space != limits.name_space) return malformed("its namespace is not '" + limits.name_space + "'");
    if (auto breach = detail::check_name("namespace", envelope.name_space)) return malformed(breach);
    if (auto breach = detail::check_topic(envelope.topic)) return malformed(breach);
    if (auto breach = detail::check_name("event kind", envelope.event_kind)) return malformed(breach);
    if (auto breach = detail::check_content_type(envelope.content_type)) return malformed(breach);
    if (envelope.published_at < wall_time{}) return malformed("it was published before 1970");
    if (auto breach = detail::check_headers(headers)) return malformed(breach);
    if (envelope.payload.size() > limits.payload_bytes)
        return malformed("its payload is over the limit of " + std::to_string(limits.payload_bytes) + " bytes");
    return {};
}

result<std::vector<header>> read_headers(reader& in) {
    const auto count = in.number(2);
    if (count > most_headers) return malformed("it has more than 32 headers");
    std::vector<header> headers;
    headers.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto name = in.text();
        headers.push_back({name, in.text()});
        if (i > 0 && name <= headers[headers.size() - 2].name) return malformed("names of headers do not rise");
    }
    return headers;
}

}  // namespace

std::size_t max_wire_bytes(const wire_limits& limits) noexcept {
    return limits.payload_bytes + most_overhead;
}

result<std::string> encode_wire(const lease_envelope& envelope, const wire_limits& limits) {
    std::vector<header> headers(envelope.headers.begin(), envelope.headers.end());
    if (auto breach = check_envelope(envelope, limits, headers)) return breach;
    writer out(most_overhead + envelope.payload.size());
    out.raw(magic);
    out.number(version, 1);
    out.text(envelope.id.text());
    out.text(envelope.name_space);
    out.text(envelope.topic);
    out.text(envelope.event_kind);
    out.text(envelope.content_type);
    out.number(
        static_cast<std::uint64_t>(std::chrono::floor<milliseconds>(envelope.published_at.time_since_epoch()).count()),
        8);
    out.number(headers.size(), 2);
    for (const auto& each : headers) {
        out.text(each.name);
        out.text(each.value.bytes());
    }
    out.number(envelope.payload.size(), 4);
    out.raw(envelope.payload);
    return out.take();
}

result<lease_envelope> decode_wire(std::string_view bytes, const wire_limits& limits) {
    if (bytes.size() > max_wire_bytes(limits)) return malformed("it is longer than one can be");
    reader in(bytes);
    if (in.raw(magic.size()) != magic) return malformed("it does not begin with RLMWIRE");
    const auto found = in.raw(1);
    if (in.failed()) return malformed("it ends before its version");
    if (found.front() != version)
        return error(errc::unsupported_envelope, "the wire envelope has version " +
                                                     std::to_string(static_cast<unsigned char>(found.front())) +
                                                     "; this one reads version 1");

    const auto id = message_id::parse(in.text());
    if (!id) return malformed(id.error());
    lease_envelope read;
    read.id = *id;
    read.name_space = in.text();
    read.topic = in.text();
    read.event_kind = in.text();
    read.content_type = in.text();
    const auto ms = in.number(8);
    if (ms > static_cast<std::uint64_t>(most_ms)) return malformed("its time does not fit");
    read.published_at = wall_time(milliseconds(static_cast<std::int64_t>(ms)));
    auto headers = read_headers(in);
    if (!headers) return headers.error();
    const auto size = in.number(4);
    // Copied only now that its length is known to be right.
    if (in.failed() || size != in.left()) return malformed("its payload does not end where it does");
    read.payload = in.raw(size);
    if (auto breach = check_envelope(read, limits, *headers)) return breach;
    for (const auto& each : *headers)
        read.headers.add(each.name, each.value);
    return read;
}

}  // namespace shove
