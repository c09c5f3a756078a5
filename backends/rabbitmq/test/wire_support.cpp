#include "wire_support.hpp"

#include <algorithm>
#include <stdexcept>

#include "field.hpp"
#include "own_headers.hpp"

namespace shove::rabbitmq_test {

using namespace rabbitmq_backend;

std::string encoded(const amqp_basic_properties_t& properties) {
    std::string room(std::size_t{1} << 18, '\0');
    auto copy = properties;
    const int size = amqp_encode_properties(AMQP_BASIC_CLASS, &copy, bytes_of(room));
    if (size < 0) throw std::runtime_error("the client library cannot encode these properties");
    room.resize(static_cast<std::size_t>(size));
    return room;
}

received::received(std::string bytes) : bytes_(std::move(bytes)) {
    void* decoded = nullptr;
    if (amqp_decode_properties(AMQP_BASIC_CLASS, memory_.get(), bytes_of(bytes_), &decoded) != AMQP_STATUS_OK)
        throw std::runtime_error("the client library cannot decode these properties");
    properties_ = static_cast<amqp_basic_properties_t*>(decoded);
}

std::string encoded(const amqp_table_t& table) {
    std::string room(std::size_t{1} << 18, '\0');
    auto copy = table;
    std::size_t size = 0;
    if (amqp_encode_table(bytes_of(room), &copy, &size) != AMQP_STATUS_OK)
        throw std::runtime_error("the client library cannot encode this table");
    room.resize(size);
    return room;
}

table_builder& table_builder::add(std::string_view name, const amqp_field_value_t& field) {
    entries_.push_back({bytes_of(name), field});
    return *this;
}

amqp_table_t table_builder::table() noexcept {
    return {static_cast<int>(entries_.size()), entries_.data()};
}

amqp_basic_properties_t table_builder::properties() noexcept {
    amqp_basic_properties_t made{};
    made._flags = AMQP_BASIC_HEADERS_FLAG;
    made.headers = table();
    return made;
}

amqp_field_value_t table_builder::as_field() noexcept {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_TABLE;
    field.value.table = table();
    return field;
}

amqp_field_value_t number(char kind, std::uint64_t value) {
    amqp_field_value_t field{};
    field.kind = static_cast<std::uint8_t>(kind);
    if (kind == 't') {
        field.value.boolean = value != 0 ? 1 : 0;
    } else {
        field.value.u64 = value;  // the lower bytes are the smaller members
    }
    return field;
}

amqp_field_value_t single(float value) {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_F32;
    field.value.f32 = value;
    return field;
}

amqp_field_value_t floating(double value) {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_F64;
    field.value.f64 = value;
    return field;
}

amqp_field_value_t bytes(char kind, std::string_view value) {
    auto field = text_field(value);
    field.kind = static_cast<std::uint8_t>(kind);
    return field;
}

amqp_field_value_t decimal(std::uint8_t decimals, std::uint32_t value) {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_DECIMAL;
    field.value.decimal = {decimals, value};
    return field;
}

amqp_field_value_t list(std::vector<amqp_field_value_t>& entries) {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_ARRAY;
    field.value.array = {static_cast<int>(entries.size()), entries.data()};
    return field;
}

amqp_field_value_t nothing() {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_VOID;
    return field;
}

incoming read(const amqp_basic_properties_t& properties, const arrival& how, std::string_view body) {
    const received arrived(encoded(properties));
    return read_message(arrived.properties(), std::as_bytes(std::span(body)), how);
}

std::unique_ptr<received> sent(const message& msg, const spi::history* past, const outgoing_context& context) {
    properties_writer writer;
    const auto* properties = writer.write(msg, past, context).value();
    auto bytes = encoded(*properties);
    if (bytes.size() + 12 != content_header_size(*properties)) throw std::runtime_error("the size is miscounted");
    return std::make_unique<received>(std::move(bytes));
}

incoming over_the_wire(const message& msg, const spi::history* past, const arrival& how) {
    const auto arrived = sent(msg, past);
    return read_message(arrived->properties(), msg.payload(), how);
}

std::string foreign_table(const amqp_basic_properties_t& properties) {
    table_builder others;
    own_headers own;
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
        for (int i = 0; i < properties.headers.num_entries; ++i) {
            const auto& entry = properties.headers.entries[i];
            if (!own.take(view_of(entry.key), entry.value)) others.add(view_of(entry.key), entry.value);
        }
    }
    return encoded(others.table());
}

bool same(const message& a, const message& b) {
    return a.id() == b.id() && a.key() == b.key() && a.content_type() == b.content_type() && a.type() == b.type() &&
           std::ranges::equal(a.payload(), b.payload()) && a.headers().encoded() == b.headers().encoded() &&
           a.published_at() == b.published_at() && a.expires_at() == b.expires_at();
}

bool same(const spi::history* a, const spi::history* b) {
    const spi::history none;
    const auto& x = a != nullptr ? *a : none;
    const auto& y = b != nullptr ? *b : none;
    return x.retries == y.retries && x.crashes == y.crashes && x.first_error == y.first_error &&
           x.last_error == y.last_error && x.first_failed_at == y.first_failed_at &&
           x.last_failed_at == y.last_failed_at && x.death_reason == y.death_reason &&
           x.original_queue == y.original_queue && x.death_count == y.death_count && x.dead_at == y.dead_at;
}

}  // namespace shove::rabbitmq_test
