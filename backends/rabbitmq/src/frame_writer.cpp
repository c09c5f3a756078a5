#include "frame_writer.hpp"

#include <algorithm>
#include <cstring>

#include "content_header.hpp"

namespace shove::rabbitmq_backend {
namespace {

// A frame: type, channel, size; payload; the byte that ends it (AMQP 0-9-1, 2.3.5).
constexpr std::size_t frame_start = 7;
constexpr std::size_t frame_end = frame_overhead - frame_start;
// Of the methods that are sent this way `basic.publish` is the longest: two names and some numbers.
constexpr std::size_t longest_method = 4 + 2 + 2 * 256 + 1 + 16;
constexpr std::uint16_t basic_class = 60;

template <class Number>
std::byte* put(std::byte* at, Number number) noexcept {
    for (auto shift = 8 * sizeof(Number); shift > 0;) {
        shift -= 8;
        *at++ = static_cast<std::byte>(number >> shift);
    }
    return at;
}

}  // namespace

std::byte* frame_writer::room(std::size_t more) {
    if (used_ + more > bytes_.size()) bytes_.resize(std::max(used_ + more, 2 * bytes_.size()));
    return bytes_.data() + used_;
}

/// `fill` writes at most `most` bytes and gives how many, or an error.
template <class Fill>
int frame_writer::frame(std::uint8_t type, amqp_channel_t channel, std::size_t most, Fill&& fill) {
    auto* const start = room(frame_start + most + frame_end);
    const int filled = fill(start + frame_start);
    if (filled < 0) return filled;
    const auto size = static_cast<std::uint32_t>(filled);
    put(put(put(start, type), channel), size);
    put(start + frame_start + size, static_cast<std::uint8_t>(AMQP_FRAME_END));
    used_ += frame_start + size + frame_end;
    return 0;
}

int frame_writer::method(amqp_channel_t channel, amqp_method_number_t id, const void* decoded) {
    return frame(AMQP_FRAME_METHOD, channel, longest_method, [&](std::byte* at) {
        const amqp_bytes_t into{longest_method - 4, put(at, static_cast<std::uint32_t>(id))};
        const int size = amqp_encode_method(id, const_cast<void*>(decoded), into);  // NOLINT: rabbitmq-c reads only
        return size < 0 ? size : size + 4;
    });
}

int frame_writer::header(amqp_channel_t channel, const amqp_basic_properties_t& properties, std::size_t body) {
    const auto most = content_header_size(properties);
    return frame(AMQP_FRAME_HEADER, channel, most, [&](std::byte* at) {
        auto* const inside = put(put(put(at, basic_class), std::uint16_t{0}), static_cast<std::uint64_t>(body));
        const auto before = static_cast<std::size_t>(inside - at);
        const amqp_bytes_t into{most - before, inside};
        auto* const all = const_cast<amqp_basic_properties_t*>(&properties);  // NOLINT: rabbitmq-c reads only
        const int size = amqp_encode_properties(basic_class, all, into);
        return size < 0 ? size : size + static_cast<int>(before);
    });
}

int frame_writer::message(amqp_channel_t channel, const amqp_basic_publish_t& how,
                          const amqp_basic_properties_t& properties, std::span<const std::byte> body) {
    const auto before = used_;
    int status = method(channel, AMQP_BASIC_PUBLISH_METHOD, &how);
    if (status == 0) status = header(channel, properties, body.size());
    const auto most = frame_max_ - frame_overhead;
    while (status == 0 && !body.empty()) {
        const auto piece = body.first(std::min(most, body.size()));
        status = frame(AMQP_FRAME_BODY, channel, piece.size(), [&](std::byte* at) {
            std::memcpy(at, piece.data(), piece.size());
            return static_cast<int>(piece.size());
        });
        body = body.subspan(piece.size());
    }
    if (status < 0) used_ = before;
    return status;
}

}  // namespace shove::rabbitmq_backend
