#pragma once

#include <shove/sbe.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <market/Order.h>
#include <market/Tick.h>

/// What the tests build and read.
namespace market_frames {

using order_frame = shove::sbe_frame<market::Order>;
using order_view = shove::sbe_view<market::Order>;
using tick_frame = shove::sbe_frame<market::Tick>;
using tick_view = shove::sbe_view<market::Tick>;

/// An order as values.
struct order {
    std::uint64_t id = 0;
    std::int64_t price = 0;
    std::vector<std::pair<std::uint32_t, std::string>> fills;
    std::string note;
    friend bool operator==(const order&, const order&) = default;
};

inline std::size_t length_of(const order& what) {
    std::vector<std::tuple<std::size_t>> venues;
    venues.reserve(what.fills.size());
    for (const auto& fill : what.fills)
        venues.emplace_back(fill.second.size());
    return market::Order::computeLength(venues, what.note.size());
}

inline order_frame frame_of(const order& what) {
    const auto write = [&](market::Order& to) {
        to.id(what.id).side(market::Side::BUY).price(what.price);
        auto& fills = to.fillsCount(static_cast<std::uint16_t>(what.fills.size()));
        for (const auto& [quantity, venue] : what.fills)
            fills.next().quantity(quantity).putVenue(venue);
        to.putNote(what.note);
    };
    return order_frame(write, length_of(what));
}

/// All that there is to read.
inline order read(market::Order from) {
    order made{from.id(), from.price(), {}, {}};
    from.fills().forEach([&](market::Order::Fills& fill) {
        const auto quantity = fill.quantity();
        made.fills.emplace_back(quantity, fill.getVenueAsString());
    });
    made.note = from.getNoteAsString();
    return made;
}

inline const order an_order{7, 1250, {{3, "XETR"}, {4, ""}}, "good till noon"};

/// Bytes in a block of memory of exactly their size, so that AddressSanitizer sees what is read beyond.
inline std::vector<std::byte> bytes_of(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
}

/// A little-endian frame: header, then these bytes.
inline std::vector<std::byte> frame_of(std::initializer_list<std::uint16_t> header, std::size_t body) {
    std::vector<std::byte> made;
    for (const auto word : header) {
        made.push_back(static_cast<std::byte>(word & 0xFF));
        made.push_back(static_cast<std::byte>(word >> 8));
    }
    made.resize(made.size() + body);
    return made;
}

/// The codec, as a topic uses it.
template <class Message>
shove::result<void> decode(std::span<const std::byte> bytes, Message& into) {
    shove::decode_scratch scratch;
    return shove::sbe<decltype(into.read())>::decode(bytes, into, scratch);
}

}  // namespace market_frames
