#include <shove/error.hpp>
#include <shove/message.hpp>

#include <cstring>
#include <new>

#include "uuid_text.hpp"

namespace shove {

// Layout behind the fixed part: [owner handle][extra: expiry][id][key][content type][type][headers][payload].
struct message::block {
    std::atomic<std::uint32_t> references{1};
    std::uint32_t payload_size = 0;
    std::int64_t published_at = 0;  // microseconds since the epoch
    std::uint32_t headers_size : 24 = 0;
    std::uint32_t flags : 8 = 0;
    std::uint8_t id_size = 0;
    std::uint8_t content_type_size = 0;
    std::uint8_t type_size = 0;
    std::uint8_t content_type_code = 0;

    char* tail() noexcept { return reinterpret_cast<char*>(this + 1); }
};

namespace {

enum flag : std::uint32_t { has_key = 1, uuid_id = 2, has_expiry = 4, borrowed = 8 };

/// Well-known content types take one number instead of their text.
constexpr std::string_view known_types[] = {"", "application/json", "application/octet-stream", "text/plain",
                                            "application/x-protobuf"};
constexpr std::uint8_t spelled_out = 255;

std::uint8_t content_code(std::string_view text) noexcept {
    static_assert(std::size(known_types) < spelled_out);
    for (std::size_t i = 0; i < std::size(known_types); ++i) {
        if (known_types[i] == text) return static_cast<std::uint8_t>(i);
    }
    return spelled_out;
}

/// A payload that stays in its owner's memory.
struct borrowed_payload {
    std::shared_ptr<const void> owner;
    const std::byte* data;
};

void check_size(std::size_t size, std::size_t limit, const char* what) {
    if (size <= limit) return;
    throw exception(error(errc::too_large, std::string("message ") + what + " is " + std::to_string(size) +
                                               " bytes; the limit is " + std::to_string(limit)));
}

void check(const message_parts& p) {
    check_size(p.id.size(), 255, "id");
    check_size(p.content_type.size(), 255, "content type");
    check_size(p.type.size(), 255, "type name");
    check_size(p.key ? p.key->size() : 0, 65'535, "key");
    check_size(p.headers.encoded().size(), (1u << 24) - 1, "headers");
    check_size(p.payload.size(), UINT32_MAX / 2, "payload");
}

/// Where each part lies in the tail.
struct layout {
    std::size_t owner = 0, expiry = 0, key_size = 0, id = 0, key = 0, content_type = 0, type = 0, headers = 0,
                payload = 0, end = 0;

    layout(std::uint32_t flags, std::size_t id_n, std::size_t key_n, std::size_t ct_n, std::size_t type_n,
           std::size_t headers_n, std::size_t payload_n) noexcept {
        std::size_t at = (flags & borrowed) ? sizeof(borrowed_payload) : 0;
        const auto next = [&](std::size_t n) { return std::exchange(at, at + n); };
        expiry = next((flags & has_expiry) ? 8 : 0);
        key_size = next((flags & has_key) ? 2 : 0);
        id = next(id_n);
        key = next(key_n);
        content_type = next(ct_n);
        type = next(type_n);
        headers = next(headers_n);
        payload = next((flags & borrowed) ? 0 : payload_n);
        end = at;
    }
};

}  // namespace

namespace {

template <class Block>
layout layout_of(Block* b) noexcept {
    std::uint16_t key_n = 0;
    if (b->flags & has_key) {
        const std::size_t at =
            ((b->flags & borrowed) ? sizeof(borrowed_payload) : 0) + ((b->flags & has_expiry) ? 8 : 0);
        std::memcpy(&key_n, b->tail() + at, 2);
    }
    return {b->flags, b->id_size, key_n, b->content_type_size, b->type_size, b->headers_size, b->payload_size};
}

void put(char* to, std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
}

}  // namespace

message message::make(const message_parts& parts) {
    return make(parts, nullptr);
}

message message::make(const message_parts& p, std::shared_ptr<const void> owner) {
    check(p);
    std::array<std::byte, 16> uuid;
    if (p.uuid) std::memcpy(uuid.data(), p.uuid, uuid.size());
    const bool compact = p.uuid || detail::parse_uuid(p.id, uuid);
    const auto code = content_code(p.content_type);
    const std::uint32_t flags = (p.key ? has_key : 0u) | (compact ? uuid_id : 0u) |
                                (p.expires_at != wall_time{} ? has_expiry : 0u) | (owner ? borrowed : 0u);
    const std::size_t id_n = compact ? 16 : p.id.size();
    const std::size_t ct_n = code == spelled_out ? p.content_type.size() : 0;
    const layout at(flags, id_n, p.key ? p.key->size() : 0, ct_n, p.type.size(), p.headers.encoded().size(),
                    p.payload.size());

    auto* b = ::new (::operator new(sizeof(block) + at.end)) block;
    b->payload_size = static_cast<std::uint32_t>(p.payload.size());
    b->published_at = p.published_at.time_since_epoch().count();
    b->headers_size = static_cast<std::uint32_t>(p.headers.encoded().size()) & 0xFFFFFFu;
    b->flags = flags & 0xFFu;
    b->id_size = static_cast<std::uint8_t>(id_n);
    b->content_type_size = static_cast<std::uint8_t>(ct_n);
    b->type_size = static_cast<std::uint8_t>(p.type.size());
    b->content_type_code = code;

    char* tail = b->tail();
    if (owner) ::new (tail) borrowed_payload{std::move(owner), p.payload.data()};
    if (flags & has_expiry) {
        const std::int64_t when = p.expires_at.time_since_epoch().count();
        std::memcpy(tail + at.expiry, &when, 8);
    }
    if (p.key) {
        const auto n = static_cast<std::uint16_t>(p.key->size());
        std::memcpy(tail + at.key_size, &n, 2);
        put(tail + at.key, *p.key);
    }
    put(tail + at.id, compact ? std::string_view(reinterpret_cast<const char*>(uuid.data()), 16) : p.id);
    if (ct_n) put(tail + at.content_type, p.content_type);
    put(tail + at.type, p.type);
    put(tail + at.headers, p.headers.encoded());
    if (!(flags & borrowed) && !p.payload.empty()) std::memcpy(tail + at.payload, p.payload.data(), p.payload.size());
    return message(b);
}

void message::retain() const noexcept {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
}

void message::release() noexcept {
    if (!block_ || block_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (block_->flags & borrowed)
        std::launder(reinterpret_cast<borrowed_payload*>(block_->tail()))->~borrowed_payload();
    block_->~block();
    ::operator delete(block_);
}

std::string_view message::id(id_buffer& buffer) const noexcept {
    if (!block_) return {};
    const char* at = block_->tail() + layout_of(block_).id;
    if (!(block_->flags & uuid_id)) return {at, block_->id_size};
    return detail::write_uuid(reinterpret_cast<const std::byte*>(at), buffer);
}

std::string message::id() const {
    id_buffer buffer;
    return std::string(id(buffer));
}

std::optional<std::string_view> message::key() const noexcept {
    if (!block_ || !(block_->flags & has_key)) return std::nullopt;
    const auto at = layout_of(block_);
    return std::string_view(block_->tail() + at.key, at.content_type - at.key);
}

std::string_view message::content_type() const noexcept {
    if (!block_) return {};
    if (block_->content_type_code != spelled_out) return known_types[block_->content_type_code];
    return {block_->tail() + layout_of(block_).content_type, block_->content_type_size};
}

std::string_view message::type() const noexcept {
    if (!block_) return {};
    return {block_->tail() + layout_of(block_).type, block_->type_size};
}

std::span<const std::byte> message::payload() const noexcept {
    if (!block_) return {};
    if (block_->flags & borrowed) {
        return {std::launder(reinterpret_cast<borrowed_payload*>(block_->tail()))->data, block_->payload_size};
    }
    return {reinterpret_cast<const std::byte*>(block_->tail()) + layout_of(block_).payload, block_->payload_size};
}

headers_view message::headers() const noexcept {
    if (!block_ || block_->headers_size == 0) return {};
    return headers_view({block_->tail() + layout_of(block_).headers, block_->headers_size});
}

wall_time message::published_at() const noexcept {
    return block_ ? wall_time(wall_time::duration(block_->published_at)) : wall_time{};
}

wall_time message::expires_at() const noexcept {
    if (!block_ || !(block_->flags & has_expiry)) return {};
    std::int64_t when = 0;
    std::memcpy(&when, block_->tail() + layout_of(block_).expiry, 8);
    return wall_time(wall_time::duration(when));
}

message_parts message::parts(id_buffer& buffer) const noexcept {
    return {nullptr, id(buffer), key(), content_type(), type(), payload(), headers(), published_at(), expires_at()};
}

std::size_t message::footprint() const noexcept {
    return block_ ? sizeof(block) + layout_of(block_).end : 0;
}

}  // namespace shove
