#pragma once

#include <string_view>

namespace shove::detail {

/// The name of a type as the compiler writes it.
template <class T>
constexpr std::string_view type_name() noexcept {
    constexpr std::string_view text = __PRETTY_FUNCTION__;
    constexpr auto from = text.find("T = ") + 4;
    constexpr auto to = text.find_first_of(";]", from);
    return text.substr(from, to - from);
}

}  // namespace shove::detail
