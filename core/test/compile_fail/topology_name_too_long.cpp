// expect: a queue name is over 200 bytes
#include <shove/topic.hpp>

#include <array>
#include <string>
#include <string_view>

constexpr auto letters = [] {
    std::array<char, 201> made{};
    made.fill('q');
    return made;
}();

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology(std::string_view(letters.data(), 200));
#else
    static constexpr auto topology = shove::topology(std::string_view(letters.data(), 201));
#endif
};

template struct shove::detail::checked_topic<orders>;
