#pragma once

#include <shove/detail/type_name.hpp>
#include <shove/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

namespace shove::detail {

inline constexpr std::size_t sbe_header_bytes = 8;

struct sbe_header {
    std::uint16_t block_length = 0;
    std::uint16_t template_id = 0;
    std::uint16_t schema_id = 0;
    std::uint16_t version = 0;
};

error sbe_too_short(std::string_view type, std::size_t size);
error sbe_wrong_schema(std::string_view type, std::uint16_t found, std::uint16_t expected);
error sbe_wrong_template(std::string_view type, std::uint16_t found, std::uint16_t expected);
error sbe_block_cut_off(std::string_view type, std::size_t needed, std::size_t found);
error sbe_damaged(errc code, std::string_view type);
error sbe_empty(std::string_view type);

/// Whether the schema's message header is the usual one: four u16, in this order.
template <class Header>
constexpr bool is_usual_sbe_header() {
    return Header::encodedLength() == sbe_header_bytes && Header::blockLengthEncodingOffset() == 0 &&
           Header::templateIdEncodingOffset() == 2 && Header::schemaIdEncodingOffset() == 4 &&
           Header::versionEncodingOffset() == 6;
}

/// What generated code takes, even where it only reads.
inline char* sbe_chars(std::span<const std::byte> bytes) {
    return const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
}

/// The rules of the header, in their order. The header's byte order is the schema's.
template <class Flyweight>
result<sbe_header> read_sbe_header(std::span<const std::byte> bytes) {
    using header_type = typename Flyweight::messageHeader;
    static_assert(is_usual_sbe_header<header_type>(),
                  "the schema's messageHeader must be four uint16: blockLength, "
                  "templateId, schemaId, version");
    constexpr auto type = type_name<Flyweight>();
    if (bytes.size() < sbe_header_bytes) return sbe_too_short(type, bytes.size());
    const header_type raw(sbe_chars(bytes), sbe_header_bytes);
    const sbe_header found{raw.blockLength(), raw.templateId(), raw.schemaId(), raw.version()};
    if (found.schema_id != Flyweight::sbeSchemaId()) {
        return sbe_wrong_schema(type, found.schema_id, Flyweight::sbeSchemaId());
    }
    if (found.template_id != Flyweight::sbeTemplateId()) {
        return sbe_wrong_template(type, found.template_id, Flyweight::sbeTemplateId());
    }
    const std::size_t needed = sbe_header_bytes + found.block_length;
    if (bytes.size() < needed) return sbe_block_cut_off(type, needed, bytes.size());
    return found;
}

/// A flyweight that reads a frame whose header was checked.
template <class Flyweight>
Flyweight read_sbe(std::span<const std::byte> bytes, const sbe_header& header) {
    Flyweight reader;
    reader.wrapForDecode(sbe_chars(bytes), sbe_header_bytes, header.block_length, header.version, bytes.size());
    return reader;
}

/// Whether groups and variable data end within the frame. Generated code looks at a length before it checks that the
/// length itself is there: what follows the frame must be readable.
template <class Flyweight>
bool sbe_is_whole(std::span<const std::byte> bytes, const sbe_header& header) {
    auto walker = read_sbe<Flyweight>(bytes, header);
    try {
        walker.skip();
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

}  // namespace shove::detail
