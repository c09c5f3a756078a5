#include "type_memory.hpp"

#include "wire_names.hpp"

namespace shove::rabbitmq_backend {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
    return static_cast<unsigned char>(text[at]);
}

}  // namespace

void type_notes::add(char letter, std::size_t index, std::string_view name) {
    if (index > 0xFFFF || name.size() > 0xFF) return;
    encoded_.push_back(letter);
    encoded_.push_back(static_cast<char>(index >> 8));
    encoded_.push_back(static_cast<char>(index & 0xFF));
    encoded_.push_back(static_cast<char>(name.size()));
    encoded_.append(name);
}

bool type_memory::take(std::string_view& from, note& into) noexcept {
    constexpr std::size_t fixed = 4;
    if (from.size() < fixed || from.size() < fixed + byte_at(from, 3)) return false;
    into = {from[0], byte_at(from, 1) << 8 | byte_at(from, 2), from.substr(fixed, byte_at(from, 3))};
    from.remove_prefix(fixed + into.name.size());
    return true;
}

/// True if each note names the header that still stands at its place.
bool type_memory::fits(headers_view all, std::string_view notes) {
    note next;
    std::size_t index = 0;
    bool more = take(notes, next);
    for (const auto& h : all) {
        if (!more) break;
        if (index++ != next.index) continue;
        if (h.name != next.name) return false;
        more = take(notes, next);
    }
    return !more;
}

type_memory::type_memory(headers_view all) {
    const auto found = all.find(wire_names::types);
    if (!found || found->type() != header_type::binary) return;
    notes_ = rest_ = found->bytes();
    exact_ = fits(all, notes_);
    has_next_ = take(rest_, next_);
}

char type_memory::letter_of(std::size_t index, std::string_view name) {
    if (!exact_) return by_name(name);
    if (!has_next_ || next_.index != index) return 0;
    const char letter = next_.letter;
    has_next_ = take(rest_, next_);
    return letter;
}

char type_memory::by_name(std::string_view name) const noexcept {
    note one;
    for (auto rest = notes_; take(rest, one);) {
        if (one.name == name) return one.letter;
    }
    return 0;
}

}  // namespace shove::rabbitmq_backend
