#pragma once

#include <shove/detail/json_reader.hpp>

#include <boost/describe.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Which C++ types have which JSON form. Library types are recognised by what they offer, so that
// no header of theirs is needed here.
namespace shove::detail {

template <class T>
concept json_described = boost::describe::has_describe_members<T>::value && std::is_class_v<T>;

template <class T>
concept json_character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                         std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <class T>
concept json_integer = std::integral<T> && !std::same_as<T, bool> && !json_character<T>;

template <class T>
concept json_bytes = std::same_as<T, std::vector<std::byte>>;

template <class T>
concept json_optional = requires(T& t) {
    typename T::value_type;
    t.reset();
    t.emplace();
    { t.has_value() } -> std::same_as<bool>;
};

template <class T>
concept json_duration = requires(const T& t) {
    typename T::rep;
    T::period::den;
    t.count();
};

/// A time point of `std::chrono::system_clock`.
template <class T>
concept json_time = requires(const T& t) {
    typename T::duration;
    t.time_since_epoch();
    &T::clock::to_time_t;
};

template <class T>
concept json_variant = requires(const T& t) {
    t.index();
    { t.valueless_by_exception() } -> std::same_as<bool>;
};

template <class T>
concept json_map = requires(T& t, typename T::key_type key) {
    typename T::mapped_type;
    t.try_emplace(std::move(key));
    t.clear();
};

template <class T>
concept json_tuple = requires { std::tuple_size<T>::value; };

template <class T>
concept json_array = json_tuple<T> && requires(T& t) {
    typename T::value_type;
    t.data();
};

template <class T>
concept json_sequence = requires(T& t) {
    typename T::value_type;
    t.clear();
    t.emplace_back();
    t.size();
};

/// A sequence whose elements can be read where they are.
template <class T>
concept json_indexed = json_sequence<T> && requires(T& t) {
    { t[0] } -> std::same_as<typename T::value_type&>;
};

template <class T>
using json_members =
    boost::describe::describe_members<T, boost::describe::mod_any_access | boost::describe::mod_inherited>;

/// True if no two names are equal.
consteval bool json_distinct(std::span<const std::string_view> names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::size_t j = i + 1; j < names.size(); ++j) {
            if (names[i] == names[j]) return false;
        }
    }
    return true;
}

template <class T>
constexpr std::string_view json_pretty_name() {
    return __PRETTY_FUNCTION__;
}

/// The type's name without its namespaces; empty for a template's instance.
template <class T>
consteval std::string_view json_type_name() {
    std::string_view name = json_pretty_name<T>();
    name.remove_prefix(name.find("T = ") + 4);
    name = name.substr(0, name.find_first_of(";]"));
    if (name.ends_with('>')) return {};
    const auto scope = name.rfind("::");
    return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

/// The tag of a variant's alternative: its member `json_tag`, else its own name.
template <class T>
consteval std::string_view json_tag() {
    if constexpr (requires { std::string_view{T::json_tag}; }) {
        return T::json_tag;
    } else if constexpr (std::is_empty_v<T> && !json_described<T>) {
        return {};  // std::monostate
    } else {
        static_assert(json_described<T>,
                      "shove::json: an alternative of a variant must be a struct described with "
                      "BOOST_DESCRIBE_STRUCT, or std::monostate");
        static_assert(!json_type_name<T>().empty(),
                      "shove::json: this alternative is a template's instance; give it a member "
                      "'static constexpr std::string_view json_tag'");
        return json_type_name<T>();
    }
}

/// True for an alternative that is written as its bare tag.
template <class T>
consteval bool json_unit() {
    if constexpr (json_described<T>) {
        return boost::mp11::mp_empty<json_members<T>>::value;
    } else {
        return true;
    }
}

template <class Enumerators>
struct json_enum_table;

template <template <class...> class L, class... D>
struct json_enum_table<L<D...>> {
    static constexpr std::array<json_enumerator, sizeof...(D)> names{
        json_enumerator{D::name, static_cast<std::uint64_t>(D::value)}...};
};

/// The names of a described enum.
template <class E>
constexpr std::span<const json_enumerator> json_enumerators() {
    static_assert(boost::describe::has_describe_enumerators<E>::value,
                  "shove::json: describe this enum with BOOST_DESCRIBE_ENUM");
    return json_enum_table<boost::describe::describe_enumerators<E>>::names;
}

template <class T>
constexpr json_time_unit json_unit_of() {
    using rep = typename T::rep;
    static_assert(std::signed_integral<rep>, "shove::json: a time point counts in a signed integer");
    static_assert(T::period::den == 1 || (T::period::num == 1 && 1'000'000'000 % T::period::den == 0),
                  "shove::json: a time point counts in whole seconds or decimal parts down to nanoseconds");
    return {T::period::num, T::period::den, std::numeric_limits<rep>::min(), std::numeric_limits<rep>::max()};
}

template <class T>
inline constexpr bool json_unsupported = false;

}  // namespace shove::detail
