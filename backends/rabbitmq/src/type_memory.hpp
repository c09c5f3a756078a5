#pragma once

#include <shove/headers.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace shove::rabbitmq_backend {

/// Notes which headers of a message had an AMQP type that their values do not tell, such as a 16-bit integer.
/// The notes travel in the message, as one header, from where it was read to where a copy of it is written.
class type_notes {
public:
    /// Of the header at `index` (from 0) of the message.
    void add(char letter, std::size_t index, std::string_view name);
    /// The value of the header; empty: nothing was noted.
    std::string_view encoded() const noexcept { return encoded_; }

private:
    std::string encoded_;  // each: letter, u16 index, u8 name size, name
};

/// Reads such notes again. They hold for a list of headers that somebody has changed since, too: then by name.
class type_memory {
public:
    /// @param all  The headers of a message, the notes among them or not; they must outlive this.
    explicit type_memory(headers_view all);
    /// The type of the header at `index`; ask in order. 0: none was noted.
    char letter_of(std::size_t index, std::string_view name);

private:
    struct note {
        char letter = 0;
        std::size_t index = 0;
        std::string_view name;
    };
    static bool take(std::string_view& from, note& into) noexcept;
    static bool fits(headers_view all, std::string_view notes);
    char by_name(std::string_view name) const noexcept;

    std::string_view notes_;
    std::string_view rest_;
    note next_;
    bool has_next_ = false;
    bool exact_ = true;
};

}  // namespace shove::rabbitmq_backend
