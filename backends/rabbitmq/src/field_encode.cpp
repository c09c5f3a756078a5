#include <cstdint>
#include <span>
#include <vector>

#include "field.hpp"
#include "field_codec.hpp"

namespace shove::rabbitmq_backend {

namespace {

/// Appends a number, its highest byte first.
void put(std::string& to, std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        to.push_back(static_cast<char>(value >> shift & 0xFF));
}

void put_bytes(std::string& to, const amqp_bytes_t& bytes) {
    put(to, bytes.len, 4);
    to.append(view_of(bytes));
}

/// A list that is being written.
struct open_list {
    const amqp_field_value_t* list;
    std::size_t begins;  ///< Where its size belongs.
    int next = 0;
};

/// The next value of a list, its name written before it; null: that was all.
const amqp_field_value_t* next_of(open_list& open, std::string& to) {
    if (open.list->kind == AMQP_FIELD_KIND_ARRAY) {
        const auto& array = open.list->value.array;
        return open.next < array.num_entries ? &array.entries[open.next++] : nullptr;
    }
    const auto& table = open.list->value.table;
    if (open.next >= table.num_entries) return nullptr;
    const auto& entry = table.entries[open.next++];
    const auto name = view_of(entry.key).substr(0, 255);
    put(to, name.size(), 1);
    to.append(name);
    return &entry.value;
}

void put_size(std::string& to, std::size_t begins) {
    std::string size;
    put(size, to.size() - begins - 4, 4);
    to.replace(begins, 4, size);
}

/// Everything but the entries of a list.
void put_payload(std::string& to, const amqp_field_value_t& field) {
    switch (field.kind) {
        case AMQP_FIELD_KIND_BOOLEAN:
            return put(to, field.value.boolean ? 1 : 0, 1);
        case AMQP_FIELD_KIND_I8:
        case AMQP_FIELD_KIND_U8:
            return put(to, field.value.u8, 1);
        case AMQP_FIELD_KIND_I16:
        case AMQP_FIELD_KIND_U16:
            return put(to, field.value.u16, 2);
        case AMQP_FIELD_KIND_I32:
        case AMQP_FIELD_KIND_U32:
        case AMQP_FIELD_KIND_F32:
            return put(to, field.value.u32, 4);
        case AMQP_FIELD_KIND_I64:
        case AMQP_FIELD_KIND_U64:
        case AMQP_FIELD_KIND_F64:
        case AMQP_FIELD_KIND_TIMESTAMP:
            return put(to, field.value.u64, 8);
        case AMQP_FIELD_KIND_DECIMAL:
            put(to, field.value.decimal.decimals, 1);
            return put(to, field.value.decimal.value, 4);
        case AMQP_FIELD_KIND_UTF8:
        case AMQP_FIELD_KIND_BYTES:
            return put_bytes(to, field.value.bytes);
        default:
            return;
    }
}

}  // namespace

void encode_field(const amqp_field_value_t& value, std::string& to) {
    std::vector<open_list> open;
    const amqp_field_value_t* current = &value;
    while (current != nullptr || !open.empty()) {
        if (current == nullptr) {
            put_size(to, open.back().begins);
            open.pop_back();
        } else {
            to.push_back(static_cast<char>(current->kind));
            if (current->kind == AMQP_FIELD_KIND_ARRAY || current->kind == AMQP_FIELD_KIND_TABLE) {
                open.push_back({current, to.size()});
                put(to, 0, 4);
            } else {
                put_payload(to, *current);
            }
        }
        current = open.empty() ? nullptr : next_of(open.back(), to);
    }
}

namespace {

std::size_t payload_size(const amqp_field_value_t& field) noexcept {
    if (const auto size = fixed_size(field.kind)) return *size;
    switch (field.kind) {
        case AMQP_FIELD_KIND_UTF8:
        case AMQP_FIELD_KIND_BYTES:
            return 4 + field.value.bytes.len;
        case AMQP_FIELD_KIND_TABLE:
            return encoded_size(field.value.table);
        case AMQP_FIELD_KIND_ARRAY: {
            const auto& array = field.value.array;
            std::size_t total = 4;
            for (const auto& entry : std::span(array.entries, static_cast<std::size_t>(array.num_entries)))
                total += 1 + payload_size(entry);
            return total;
        }
        default:
            return 0;
    }
}

}  // namespace

std::size_t encoded_size(const amqp_table_t& table) noexcept {
    std::size_t total = 4;
    for (const auto& entry : std::span(table.entries, static_cast<std::size_t>(table.num_entries)))
        total += 1 + entry.key.len + 1 + payload_size(entry.value);
    return total;
}

}  // namespace shove::rabbitmq_backend
