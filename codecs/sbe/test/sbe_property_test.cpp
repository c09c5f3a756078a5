#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "market_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

// Whatever bytes come, reading them stays within them: AddressSanitizer looks on, each input in memory of its very
// size.
namespace {

using namespace market_frames;

order some_order() {
    return {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::int64_t>(),
            *rc::gen::arbitrary<std::vector<std::pair<std::uint32_t, std::string>>>(),
            *rc::gen::arbitrary<std::string>()};
}

std::byte some_byte() {
    return static_cast<std::byte>(*rc::gen::oneOf(rc::gen::inRange(0, 256), rc::gen::element(0, 1, 255)));
}

std::vector<std::byte> some_bytes(std::size_t most) {
    const auto size = *rc::gen::inRange<std::size_t>(0, most);
    std::vector<std::byte> bytes(size);
    for (auto& each : bytes)
        each = some_byte();
    return bytes;
}

/// Reads all, in the schema's order. Generated code throws where a value is none of its enum's.
void read_all(const order_frame& frame) {
    auto reader = frame.read();
    (void)read(reader);
    try {
        (void)reader.side();
    } catch (const std::exception&) {
    }
}

/// Decodes and reads; whatever is refused is refused with an error.
void survives(const std::vector<std::byte>& bytes) {
    order_frame frame;
    if (const auto decoded = decode(bytes, frame)) {
        RC_ASSERT(bytes_of(frame.bytes()) == bytes);
        read_all(frame);
    } else {
        RC_ASSERT(decoded.error() == shove::errc::decode_failed);
        RC_ASSERT(frame.empty());
    }
    if (order_view view; decode(bytes, view)) (void)(view.read().id() + view.read().price());
}

RC_GTEST_PROP(sbe_property, round_trip, ()) {
    const auto before = some_order();
    std::string out;
    RC_ASSERT(!!shove::sbe<market::Order>::encode(frame_of(before), out));
    order_frame after;
    RC_ASSERT(!!decode(std::as_bytes(std::span(out)), after));
    RC_ASSERT(read(after.read()) == before);
}

RC_GTEST_PROP(sbe_property, any_bytes, ()) {
    survives(some_bytes(64));
}

RC_GTEST_PROP(sbe_property, any_body_behind_a_right_header, ()) {
    const auto block = *rc::gen::inRange<std::uint16_t>(0, 24);
    const auto version = *rc::gen::inRange<std::uint16_t>(0, 3);
    auto bytes = frame_of({block, 3, 7, version}, 0);
    for (const auto each : some_bytes(80))
        bytes.push_back(each);
    survives(bytes);
}

RC_GTEST_PROP(sbe_property, damaged_frames, ()) {
    auto bytes = bytes_of(frame_of(some_order()).bytes());
    for (int changes = *rc::gen::inRange(1, 4); changes > 0; --changes) {
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = some_byte();
    }
    survives(bytes);
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
    bytes.shrink_to_fit();
    survives(bytes);
}

RC_GTEST_PROP(sbe_property, fixed_messages_in_place, ()) {
    auto bytes = frame_of({*rc::gen::inRange<std::uint16_t>(0, 20), 4, 7, *rc::gen::inRange<std::uint16_t>(0, 3)}, 0);
    for (const auto each : some_bytes(24))
        bytes.push_back(each);
    bytes.shrink_to_fit();
    if (tick_view view; decode(bytes, view)) (void)(view.read().symbol() + view.read().price());
}

}  // namespace
