// Wire envelope v1: byte for byte the reference's (spec, durable broker, section 12), and strict.

#include <shove/trace.hpp>
#include <shove/wire_envelope.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

namespace shove {
namespace {

const wire_limits wire{.name_space = "wire"};

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

lease_envelope worked_example() {
    lease_envelope made;
    made.id = message_id::parse("msg_0123456789abcdef0123456789abcdef").value();
    made.name_space = "wire";
    made.topic = "events";
    made.event_kind = "event.created";
    made.content_type = "application/json";
    made.published_at = wall_time(milliseconds(1735689600123));
    made.headers.add("tracestate", "vendor=value")
        .add("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        .add("tenant-hint", "opaque");
    made.payload = R"({"id":42})";
    return made;
}

const std::string worked_bytes = from_hex(
    "524c4d57495245010024"
    "6d73675f3031323334353637383961626364656630313233343536373839616263646566"
    "0004776972650006"
    "6576656e7473000d6576656e742e637265617465640010"
    "6170706c69636174696f6e2f6a736f6e000001941f297c7b0003"
    "000b74656e616e742d68696e7400066f7061717565"
    "000b7472616365706172656e74003730302d34626639326633353737623334646136613363653932396430653065343733362d3030663036"
    "37616130626139303262372d3031"
    "000a74726163657374617465000c76656e646f723d76616c7565"
    "000000097b226964223a34327d");

/// The example with some bytes replaced by others.
std::string changed(std::string_view from, std::string_view to) {
    auto bytes = worked_bytes;
    const auto at = bytes.find(from);
    EXPECT_NE(at, bytes.npos);
    return bytes.replace(at, from.size(), to);
}
std::string changed_at(std::size_t at, std::string_view to) {
    auto bytes = worked_bytes;
    return bytes.replace(at, to.size(), to);
}
/// The example with this text in the place of that one, and its length before it.
std::string with_text(std::string_view from, std::string_view to) {
    const auto sized = [](std::string_view text) {
        std::string made{static_cast<char>(text.size() >> 8U & 0xFFU), static_cast<char>(text.size() & 0xFFU)};
        return made += text;
    };
    return changed(sized(from), sized(to));
}
constexpr std::size_t header_count_at = 8 + 38 + 6 + 8 + 15 + 18 + 8;

TEST(wire_envelope_test, encodes_the_worked_example) {
    ASSERT_EQ(worked_bytes.size(), 233U);
    EXPECT_EQ(encode_wire(worked_example(), wire).value(), worked_bytes);
}

TEST(wire_envelope_test, decodes_the_worked_example) {
    const auto read = decode_wire(worked_bytes, wire).value();
    const auto want = worked_example();
    EXPECT_EQ(read.id, want.id);
    EXPECT_EQ(read.name_space, want.name_space);
    EXPECT_EQ(read.topic, want.topic);
    EXPECT_EQ(read.event_kind, want.event_kind);
    EXPECT_EQ(read.content_type, want.content_type);
    EXPECT_EQ(read.published_at, want.published_at);
    EXPECT_EQ(read.payload, want.payload);
    EXPECT_EQ(read.headers.view().text("tenant-hint"), "opaque");
    EXPECT_EQ(read.headers.view().size(), 3U);
    EXPECT_EQ(read.headers.begin()->name, "tenant-hint");
    EXPECT_EQ(read.sequence, 0U);
}

TEST(wire_envelope_test, the_small_example_both_ways) {
    const auto bytes = from_hex(
        "524c4d574952450100246d73675f303132333435363738396162636465663031323334353637383961626364656600026e73000174000"
        "16b0003612f620000000000000001000200016100000001620002c3a9000000026869");
    const wire_limits ns{.name_space = "ns"};
    const auto read = decode_wire(bytes, ns).value();
    EXPECT_EQ(read.headers.view().text("a"), "");
    EXPECT_EQ(read.headers.view().text("b"), "é");
    EXPECT_EQ(read.published_at, wall_time(milliseconds(1)));
    EXPECT_EQ(encode_wire(read, ns).value(), bytes);
}

TEST(wire_envelope_test, every_prefix_and_a_byte_more_are_refused) {
    for (std::size_t size = 0; size < worked_bytes.size(); ++size)
        EXPECT_EQ(decode_wire(worked_bytes.substr(0, size), wire).error(), errc::invalid_envelope) << size;
    EXPECT_EQ(decode_wire(worked_bytes + 'x', wire).error(), errc::invalid_envelope);
}

TEST(wire_envelope_test, another_version_is_told_apart_from_nonsense) {
    EXPECT_EQ(decode_wire(changed_at(7, std::string(1, '\0')), wire).error(), errc::unsupported_envelope);
    EXPECT_EQ(decode_wire(changed_at(7, "\2"), wire).error(), errc::unsupported_envelope);
    EXPECT_EQ(decode_wire(changed_at(0, "X"), wire).error(), errc::invalid_envelope);
    // The length is looked at first.
    std::string longest = "RLMWIRE\2";
    longest.resize(max_wire_bytes(wire));
    EXPECT_EQ(longest.size(), 1'057'602U);
    EXPECT_EQ(decode_wire(longest, wire).error(), errc::unsupported_envelope);
    EXPECT_EQ(decode_wire(longest + '\0', wire).error(), errc::invalid_envelope);
}

TEST(wire_envelope_test, refuses_the_malformed_and_repeats_nothing_of_it) {
    const std::string id = "msg_0123456789abcdef0123456789abcdef";
    const auto at = [](std::size_t where, std::string_view bytes) { return changed_at(where, bytes); };
    const auto size_at = worked_bytes.size() - 13;
    const std::vector<std::string> bad{
        at(size_at, std::string("\0\0\0\x0a", 4)),
        at(size_at, std::string("\0\0\0\x08", 4)),
        at(size_at, "\xff\xff\xff\xff"),
        with_text(id, id.substr(1)),
        with_text(id, "msg_0123456789ABCDEF0123456789ABCDEF"),
        with_text(id, "ack_0123456789abcdef0123456789abcdef"),
        with_text("wire", "wirf"),
        with_text("events", ""),
        with_text("events", "e/s"),
        with_text("events", std::string(256, 'e')),
        with_text("events", "\xff\xfe"),
        with_text("event.created", "event created"),
        with_text("application/json", "application/json;v=1"),
        with_text("application/json", "json"),
        at(header_count_at - 8, "\xff\xff\xff\xff\xff\xff\xff\xff"),
        at(header_count_at, std::string("\0\x21", 2)),
        at(header_count_at, std::string("\0\4", 2)),
        at(header_count_at, std::string("\0\2", 2)),
        with_text("tenant-hint", "zenant-hint"),
        with_text("tracestate", "traceparent"),
        with_text("tenant-hint", "Tenant-hint"),
        with_text("tenant-hint", std::string(65, 'a')),
        with_text("opaque", "a\tb"),
        with_text("opaque", "\xc2\x85"),
        with_text("opaque", std::string(1025, 'a')),
        with_text("opaque", "\xc0\xaf"),
        with_text("opaque", "\xed\xa0\x80"),
    };
    for (std::size_t i = 0; i < bad.size(); ++i) {
        const auto read = decode_wire(bad[i], wire);
        ASSERT_FALSE(read) << i;
        EXPECT_EQ(read.error(), errc::invalid_envelope) << i;
        EXPECT_EQ(read.error().message().find("opaque"), std::string::npos) << i;
        EXPECT_EQ(read.error().message().find("\"id\""), std::string::npos) << i;
    }
}

TEST(wire_envelope_test, bounds_of_headers_and_payload_are_exact) {
    auto made = worked_example();
    made.headers = {};
    for (char c = 'a'; c <= 'h'; ++c)
        made.headers.add(std::string(1, c), std::string(c == 'h' ? 1016 : 1024, 'v'));  // 8,192 with their names
    EXPECT_TRUE(decode_wire(encode_wire(made, wire).value(), wire));
    made.headers.add("i", "");
    EXPECT_EQ(encode_wire(made, wire).error(), errc::invalid_envelope);
    made.headers = {};
    made.payload.assign(wire.payload_bytes, 'p');
    EXPECT_TRUE(decode_wire(encode_wire(made, wire).value(), wire));
    made.payload += 'p';
    EXPECT_EQ(encode_wire(made, wire).error(), errc::invalid_envelope);
    const wire_limits wider{.name_space = "wire", .payload_bytes = wire.payload_bytes + 1};
    EXPECT_EQ(decode_wire(encode_wire(made, wider).value(), wire).error(), errc::invalid_envelope);
}

// Names of 64 bytes, values of as many as fit: the sum is one too many in bytes from elsewhere as well.
TEST(wire_envelope_test, a_sum_of_headers_over_the_limit_is_refused_when_read) {
    const auto read = decode_wire(with_text("opaque", std::string(1024, 'a')), wire);
    EXPECT_TRUE(read) << read.error().message();
    std::string many = worked_bytes.substr(0, header_count_at) + std::string("\0\x09", 2);
    for (char c = 'a'; c <= 'i'; ++c)
        many += std::string("\0\1", 2) + c +
                (c == 'i' ? std::string("\0\0", 2) : std::string("\4\0", 2) + std::string(1024, 'v'));
    many += std::string(4, '\0');
    EXPECT_EQ(decode_wire(many, wire).error(), errc::invalid_envelope);
}

TEST(wire_envelope_test, encoding_refuses_what_decoding_would) {
    const auto refuses = [](const std::function<void(lease_envelope&)>& change) {
        auto made = worked_example();
        change(made);
        return encode_wire(made, wire).error() == errc::invalid_envelope;
    };
    EXPECT_TRUE(refuses([](auto& e) { e.name_space = "other"; }));
    EXPECT_TRUE(refuses([](auto& e) { e.published_at = wall_time(milliseconds(-1)); }));
    EXPECT_TRUE(refuses([](auto& e) { e.topic.clear(); }));
    EXPECT_TRUE(refuses([](auto& e) { e.headers.add("tenant-hint", "again"); }));
    EXPECT_TRUE(refuses([](auto& e) { e.headers.add("number", 7); }));
    EXPECT_TRUE(refuses([](auto& e) { e.content_type = "json"; }));
}

TEST(wire_envelope_test, a_bad_trace_is_for_its_reader_to_refuse) {
    const auto read = decode_wire(with_text("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "zz"), wire);
    ASSERT_TRUE(read);
    EXPECT_FALSE(read_trace(read->headers));
}

TEST(wire_envelope_test, the_latest_time_there_is) {
    auto made = worked_example();
    const auto last = std::chrono::floor<milliseconds>(wall_time::max());
    made.published_at = last;
    const auto bytes = encode_wire(made, wire).value();
    EXPECT_EQ(decode_wire(bytes, wire).value().published_at, last);
    auto later = bytes;
    ++later[header_count_at - 1];
    EXPECT_EQ(decode_wire(later, wire).error(), errc::invalid_envelope);
}

TEST(wire_envelope_test, no_headers_and_no_payload) {
    auto made = worked_example();
    made.headers = {};
    made.payload.clear();
    const auto bytes = encode_wire(made, wire).value();
    EXPECT_EQ(encode_wire(decode_wire(bytes, wire).value(), wire).value(), bytes);
}

RC_GTEST_PROP(wire_envelope_test, what_decodes_encodes_to_the_same, (std::size_t at, std::string bytes)) {
    auto made = worked_bytes;
    at %= made.size();
    made.replace(at, std::min(bytes.size(), made.size() - at), bytes.substr(0, made.size() - at));
    if (const auto read = decode_wire(made, wire)) RC_ASSERT(encode_wire(*read, wire).value() == made);
}

RC_GTEST_PROP(wire_envelope_test, any_payload_and_header_value_survive, (const std::string& payload, unsigned number)) {
    auto made = worked_example();
    made.payload = payload;
    made.headers.set("tenant-hint", std::to_string(number));
    const auto read = decode_wire(encode_wire(made, wire).value(), wire).value();
    RC_ASSERT(read.payload == payload);
    RC_ASSERT(read.headers.view().text("tenant-hint") == std::to_string(number));
}

}  // namespace
}  // namespace shove
