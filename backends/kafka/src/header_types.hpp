#pragma once

#include <shove/headers.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shove::kafka_backend {

/// Remembers which headers of a message are no texts. A value on the wire is bytes: numbers and booleans travel as
/// the text that other clients expect, and a list of `{place}{letter}` says which of the headers they are.
class header_types {
public:
    /// The bytes of a value on the wire; notes its type where the bytes do not tell it.
    /// @param place    The header's, among those of the user.
    /// @param scratch  Where a number is written; the result may point into it.
    std::string_view write(const header_value& value, std::size_t place, std::string& scratch);
    /// The list, to be sent along; empty: there is nothing to remember.
    const std::string& text() const noexcept { return text_; }

    /// Takes a list from a message; what makes no sense in it is passed over.
    void read(std::string_view list);
    /// The value that these bytes are.
    header_value value(std::string_view bytes, std::size_t place) const;

private:
    void note(std::size_t place, char letter);

    struct entry {
        std::size_t place = 0;
        char letter = 0;
    };
    std::string text_;
    std::vector<entry> entries_;
};

}  // namespace shove::kafka_backend
