#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// Texts of a few bytes, such as field names, without a call of the C library.
namespace shove::detail {

template <class Word>
Word load(const char* at) {
    Word word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Compares texts of at least one and at most two words.
template <class Word>
bool equal_words(const char* a, const char* b, std::size_t size) {
    const std::size_t last = size - sizeof(Word);
    return load<Word>(a) == load<Word>(b) && load<Word>(a + last) == load<Word>(b + last);
}

inline bool equal_texts(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() > 16) return a == b;
    if (a.size() >= 8) return equal_words<std::uint64_t>(a.data(), b.data(), a.size());
    if (a.size() >= 4) return equal_words<std::uint32_t>(a.data(), b.data(), a.size());
    if (a.size() >= 2) return equal_words<std::uint16_t>(a.data(), b.data(), a.size());
    return a.empty() || a.front() == b.front();
}

/// Copies at least one and at most two words.
template <class Word>
void copy_words(char* to, const char* from, std::size_t size) {
    const std::size_t last = size - sizeof(Word);
    const auto head = load<Word>(from);
    const auto tail = load<Word>(from + last);
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + last, &tail, sizeof tail);
}

inline void copy_text(char* to, const char* from, std::size_t size) {
    if (size > 16) {
        std::memcpy(to, from, size);
    } else if (size >= 8) {
        copy_words<std::uint64_t>(to, from, size);
    } else if (size >= 4) {
        copy_words<std::uint32_t>(to, from, size);
    } else if (size >= 2) {
        copy_words<std::uint16_t>(to, from, size);
    } else if (size == 1) {
        *to = *from;
    }
}

}  // namespace shove::detail
