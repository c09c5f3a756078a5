#include <shove/detail/sbe_header.hpp>

#include <string>

namespace shove::detail {
namespace {

error failed(errc code, std::string_view type, std::string_view what) {
    return {code, std::string(type).append(": ").append(what)};
}

error unexpected(std::string_view type, const char* what, std::uint16_t found, std::uint16_t expected) {
    return failed(errc::decode_failed, type, what + std::to_string(found) + ", expected " + std::to_string(expected));
}

}  // namespace

error sbe_too_short(std::string_view type, std::size_t size) {
    return failed(errc::decode_failed, type, "too short: " + std::to_string(size) + " bytes, an SBE header has 8");
}

error sbe_wrong_schema(std::string_view type, std::uint16_t found, std::uint16_t expected) {
    return unexpected(type, "SBE schema id ", found, expected);
}

error sbe_wrong_template(std::string_view type, std::uint16_t found, std::uint16_t expected) {
    return unexpected(type, "SBE template id ", found, expected);
}

error sbe_block_cut_off(std::string_view type, std::size_t needed, std::size_t found) {
    return failed(
        errc::decode_failed, type,
        "root block cut off: " + std::to_string(needed) + " bytes needed, " + std::to_string(found) + " there");
}

error sbe_damaged(errc code, std::string_view type) {
    return failed(code, type, "groups or variable data are not all there");
}

error sbe_empty(std::string_view type) {
    return failed(errc::encode_failed, type, "an empty SBE frame");
}

}  // namespace shove::detail
