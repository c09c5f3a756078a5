#pragma once

#include <cstddef>

namespace shove {

/// What the JSON codec refuses, when it reads as well as when it writes, so that what one side
/// encodes the other decodes.
struct json_limits {
    /// Arrays and objects inside one another; `[[1]]` has depth 2.
    std::size_t max_depth = 64;
    /// Bytes of one string or key, after its escapes; for bytes, of their base64 text.
    std::size_t max_string_bytes = std::size_t{16} << 20;
    /// Bytes of the whole document.
    std::size_t max_document_bytes = std::size_t{64} << 20;
};

}  // namespace shove
