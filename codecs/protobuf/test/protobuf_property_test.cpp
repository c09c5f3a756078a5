#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <shove/protobuf.hpp>

#include "shop.pb.h"

#include <google/protobuf/util/message_differencer.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Random messages come back as they were; random bytes are read or refused, and never more.
namespace {

std::string some_text() {
    return *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7F'));
}

shop::Order some_order() {
    shop::Order order;
    order.set_id(some_text());
    order.set_paid_in(*rc::gen::element(shop::EUR, shop::USD));
    for (const auto price : *rc::gen::arbitrary<std::vector<std::int32_t>>()) {
        auto& line = *order.add_lines();
        line.set_item(some_text());
        line.set_price(price / 3.0);
    }
    for (const auto count : *rc::gen::arbitrary<std::vector<std::int64_t>>()) {
        (*order.mutable_stock())[some_text()] = count;
    }
    for (const auto mark : *rc::gen::arbitrary<std::vector<std::int32_t>>())
        order.add_marks(mark);
    if (*rc::gen::arbitrary<bool>()) order.set_seal(*rc::gen::arbitrary<std::string>());
    if (*rc::gen::arbitrary<bool>())
        order.set_courier(some_text());
    else
        order.set_post(*rc::gen::arbitrary<std::uint64_t>());
    return order;
}

shove::result<void> decode(std::string_view bytes, shop::Order& into) {
    static shove::decode_scratch scratch;
    return shove::protobuf::decode(std::as_bytes(std::span(bytes)), into, scratch);
}

RC_GTEST_PROP(protobuf_property, round_trip, ()) {
    const auto before = some_order();
    std::string bytes;
    RC_ASSERT(!!shove::protobuf::encode(before, bytes));
    auto after = some_order();  // must all be gone
    RC_ASSERT(!!decode(bytes, after));
    RC_ASSERT(google::protobuf::util::MessageDifferencer::Equals(before, after));
}

RC_GTEST_PROP(protobuf_property, damage_is_read_or_refused, ()) {
    std::string bytes;
    RC_ASSERT(!!shove::protobuf::encode(some_order(), bytes));
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
    if (!bytes.empty()) {
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
    }
    shop::Order into;
    const auto decoded = decode(bytes, into);
    if (!decoded) RC_ASSERT(decoded.error().detail == "shop.Order: not a message of this type, or cut off");
}

RC_GTEST_PROP(protobuf_property, any_bytes_are_read_or_refused, (const std::string& bytes)) {
    shop::Order into;
    const auto decoded = decode(bytes, into);
    if (!decoded) RC_ASSERT(decoded.error() == shove::errc::decode_failed);
}

}  // namespace
