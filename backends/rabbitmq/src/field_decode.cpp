#include <cstdint>
#include <optional>

#include "field.hpp"
#include "field_codec.hpp"

namespace shove::rabbitmq_backend {

std::optional<std::size_t> fixed_size(std::uint8_t kind) noexcept {
    switch (kind) {
        case AMQP_FIELD_KIND_VOID:
            return 0;
        case AMQP_FIELD_KIND_BOOLEAN:
        case AMQP_FIELD_KIND_I8:
        case AMQP_FIELD_KIND_U8:
            return 1;
        case AMQP_FIELD_KIND_I16:
        case AMQP_FIELD_KIND_U16:
            return 2;
        case AMQP_FIELD_KIND_I32:
        case AMQP_FIELD_KIND_U32:
        case AMQP_FIELD_KIND_F32:
            return 4;
        case AMQP_FIELD_KIND_DECIMAL:
            return 5;
        case AMQP_FIELD_KIND_I64:
        case AMQP_FIELD_KIND_U64:
        case AMQP_FIELD_KIND_F64:
        case AMQP_FIELD_KIND_TIMESTAMP:
            return 8;
        default:
            return std::nullopt;
    }
}

namespace {

/// Bytes from outside, read from their beginning on. Each function answers false where too few are left.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) noexcept : rest_(bytes) {}

    bool done() const noexcept { return rest_.empty(); }

    bool take(std::size_t count, std::string_view& into) noexcept {
        if (count > rest_.size()) return false;
        into = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return true;
    }
    /// A number of `bytes` bytes, the highest first.
    template <class T>
    bool number(T& into, std::size_t bytes = sizeof(T)) noexcept {
        std::string_view raw;
        if (!take(bytes, raw)) return false;
        std::uint64_t value = 0;
        for (const char c : raw)
            value = value << 8 | static_cast<unsigned char>(c);
        into = static_cast<T>(value);
        return true;
    }
    /// Bytes behind their count, which takes `size_bytes` bytes.
    bool counted(std::size_t size_bytes, std::string_view& into) noexcept {
        std::uint32_t size = 0;
        return number(size, size_bytes) && take(size, into);
    }

private:
    std::string_view rest_;
};

bool skip_value(byte_reader& from) noexcept {
    std::uint8_t kind = 0;
    std::string_view skipped;
    if (!from.number(kind)) return false;
    const auto fixed = fixed_size(kind);
    return fixed ? from.take(*fixed, skipped) : from.counted(4, skipped);
}

/// Entries of a list; nothing if it is malformed.
std::optional<std::size_t> count_entries(byte_reader from, bool named) noexcept {
    std::size_t count = 0;
    for (std::string_view name; !from.done(); ++count) {
        if ((named && !from.counted(1, name)) || !skip_value(from)) return std::nullopt;
    }
    return count;
}

bool read_value(byte_reader& from, pool& memory, int depth, amqp_field_value_t& into);

bool read_array(std::string_view bytes, pool& memory, int depth, amqp_array_t& into) {
    byte_reader from(bytes);
    const auto count = count_entries(from, false);
    if (!count) return false;
    const auto entries = memory.make<amqp_field_value_t>(*count);
    for (auto& entry : entries) {
        if (!read_value(from, memory, depth, entry)) return false;
    }
    into = {static_cast<int>(entries.size()), entries.data()};
    return true;
}

bool read_table(std::string_view bytes, pool& memory, int depth, amqp_table_t& into) {
    byte_reader from(bytes);
    const auto count = count_entries(from, true);
    if (!count) return false;
    const auto entries = memory.make<amqp_table_entry_t>(*count);
    for (auto& entry : entries) {
        std::string_view name;
        if (!from.counted(1, name) || !read_value(from, memory, depth, entry.value)) return false;
        entry.key = bytes_of(name);
    }
    into = {static_cast<int>(entries.size()), entries.data()};
    return true;
}

bool read_fixed(byte_reader& from, amqp_field_value_t& into) noexcept {
    switch (*fixed_size(into.kind)) {
        case 0:
            return true;
        case 1: {
            std::uint8_t byte = 0;
            if (!from.number(byte)) return false;
            if (into.kind == AMQP_FIELD_KIND_BOOLEAN) {
                into.value.boolean = byte != 0 ? 1 : 0;
            } else {
                into.value.u8 = byte;
            }
            return true;
        }
        case 2:
            return from.number(into.value.u16);
        case 4:
            return from.number(into.value.u32);
        case 5:
            return from.number(into.value.decimal.decimals) && from.number(into.value.decimal.value);
        default:
            return from.number(into.value.u64);
    }
}

bool read_value(byte_reader& from, pool& memory, int depth, amqp_field_value_t& into) {
    if (!from.number(into.kind)) return false;
    if (fixed_size(into.kind)) return read_fixed(from, into);
    std::string_view bytes;
    if (!from.counted(4, bytes)) return false;
    switch (into.kind) {
        case AMQP_FIELD_KIND_UTF8:
        case AMQP_FIELD_KIND_BYTES:
            into.value.bytes = bytes_of(bytes);
            return true;
        case AMQP_FIELD_KIND_ARRAY:
            return depth < max_field_depth && read_array(bytes, memory, depth + 1, into.value.array);
        case AMQP_FIELD_KIND_TABLE:
            return depth < max_field_depth && read_table(bytes, memory, depth + 1, into.value.table);
        default:
            return false;
    }
}

}  // namespace

bool decode_field(std::string_view encoded, pool& memory, amqp_field_value_t& into) {
    byte_reader from(encoded);
    into = {};
    return read_value(from, memory, 0, into) && from.done();
}

}  // namespace shove::rabbitmq_backend
