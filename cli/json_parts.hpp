#pragma once

#include <shove/codec.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <shove/message.hpp>

namespace shove::cli {

/// A member of a JSON object, as its text stands there.
struct json_member {
    std::string_view key;  ///< With its quotes and escapes.
    std::string_view value;
};

/// The members of an object, in order; nothing if the text is another kind of value. The text must be valid
/// JSON (see `detail::is_valid_json`).
std::optional<std::vector<json_member>> members_of(std::string_view json);
/// The elements of an array; as above.
std::optional<std::vector<std::string_view>> elements_of(std::string_view json);

/// Arrays and objects inside one another in a valid JSON text.
std::size_t depth_of(std::string_view json) noexcept;

/// Reads single values from pieces of a valid JSON text; nothing where one is of another kind.
class json_values {
public:
    std::optional<std::string> text(std::string_view json);
    /// Bytes from a base64 string.
    std::optional<std::string> bytes(std::string_view json);
    std::optional<std::int64_t> integer(std::string_view json);
    std::optional<double> number(std::string_view json);
    std::optional<wall_time> time(std::string_view json);

private:
    template <class T>
    std::optional<T> read(std::string_view json);
    decode_scratch scratch_;
};

}  // namespace shove::cli
