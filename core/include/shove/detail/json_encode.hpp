#pragma once

#include <shove/detail/json_kinds.hpp>
#include <shove/detail/json_writer.hpp>

// How each kind of type is written.
namespace shove::detail {

template <class T>
bool json_write(json_writer& writer, const T& from);

/// `json_write` behind a pointer.
template <class T>
bool json_write_erased(json_writer& writer, const void* from) {
    return json_write(writer, *static_cast<const T*>(from));
}

/// A member's key, prepared at compile time.
template <class D>
struct json_key_of {
    static constexpr std::string_view name = D::name;
    static constexpr std::size_t size = name.size() + 4;
    static constexpr auto text = [] {
        std::array<char, (size < 16 ? 16 : size)> made{',', '"'};
        for (std::size_t i = 0; i < name.size(); ++i)
            made[i + 2] = name[i];
        made[size - 2] = '"';
        made[size - 1] = ':';
        return made;
    }();
    static constexpr json_prepared_key key{text.data(), size};
};

template <class T>
bool json_write_member(json_writer& writer, const json_prepared_key& key, const T& value) {
    writer.prepared_key(key);
    return json_write(writer, value) || writer.in_member(key.name());
}

template <class T, template <class...> class L, class... D>
bool json_write_members(json_writer& writer, const T& from, L<D...>) {
    return (json_write_member(writer, json_key_of<D>::key, from.*D::pointer) && ...);
}

template <class T>
bool json_write_object(json_writer& writer, const T& from) {
    if (!writer.begin_object() || !json_write_members(writer, from, json_members<T>())) return false;
    writer.end_object();
    return true;
}

/// The name of an enum's value; empty without one.
std::string_view json_name_of(std::uint64_t value, std::span<const json_enumerator> names);

template <class T>
bool json_write_enum(json_writer& writer, T from) {
    const auto name = json_name_of(static_cast<std::uint64_t>(from), json_enumerators<T>());
    return name.empty() ? writer.fail("the enum has no name for this value") : writer.string(name);
}

template <class T>
bool json_write_integer(json_writer& writer, T from) {
    if constexpr (std::signed_integral<T>) {
        writer.integer(from);
    } else {
        writer.unsigned_integer(from);
    }
    return true;
}

template <class T>
bool json_write_optional(json_writer& writer, const T& from) {
    if (from.has_value()) return json_write(writer, *from);
    writer.null();
    return true;
}

template <class T>
bool json_write_alternative(json_writer& writer, const T& content) {
    constexpr auto tag = json_tag<T>();
    if constexpr (tag.empty()) {
        writer.null();
        return true;
    } else if constexpr (json_unit<T>()) {
        return writer.string(tag);
    } else {
        if (!writer.begin_object()) return false;
        writer.plain_key(tag);
        if (!json_write(writer, content)) return writer.in_member(tag);
        writer.end_object();
        return true;
    }
}

template <std::size_t I, class T>
bool json_write_alternative_at(json_writer& writer, const T& from, bool& ok) {
    if (from.index() != I) return false;
    ok = json_write_alternative(writer, get<I>(from));
    return true;
}

template <template <class...> class V, class... T, std::size_t... I>
bool json_write_variant(json_writer& writer, const V<T...>& from, std::index_sequence<I...>) {
    bool ok = false;
    return (json_write_alternative_at<I>(writer, from, ok) || ...) ? ok : writer.fail("the variant has no value");
}

template <template <class...> class V, class... T>
bool json_write_variant(json_writer& writer, const V<T...>& from) {
    return json_write_variant(writer, from, std::index_sequence_for<T...>());
}

template <class K>
bool json_write_key(json_writer& writer, const K& key) {
    if constexpr (std::same_as<K, std::string>) {
        return writer.key(key);
    } else if constexpr (std::is_enum_v<K>) {
        const auto name = json_name_of(static_cast<std::uint64_t>(key), json_enumerators<K>());
        return name.empty() ? writer.fail("the enum has no name for this key") : writer.key(name);
    } else {
        static_assert(json_integer<K>, "shove::json: a map's key is a std::string, an integer or a described enum");
        return writer.key(std::to_string(key));
    }
}

template <class T>
bool json_write_map(json_writer& writer, const T& from) {
    if (!writer.begin_object()) return false;
    std::size_t index = 0;
    for (const auto& [key, value] : from) {
        if (!json_write_key(writer, key) || !json_write(writer, value)) return writer.in_entry(index);
        ++index;
    }
    writer.end_object();
    return true;
}

template <class T>
bool json_write_sequence(json_writer& writer, const T& from) {
    if (!writer.begin_array()) return false;
    std::size_t index = 0;
    for (const auto& value : from) {
        if (!json_write(writer, static_cast<const typename T::value_type&>(value))) return writer.in_index(index);
        ++index;
    }
    writer.end_array();
    return true;
}

template <class T, std::size_t... I>
bool json_write_tuple(json_writer& writer, const T& from, std::index_sequence<I...>) {
    if (!writer.begin_array()) return false;
    if (!((json_write(writer, get<I>(from)) || writer.in_index(I)) && ...)) return false;
    writer.end_array();
    return true;
}

template <class T>
bool json_write_container(json_writer& writer, const T& from) {
    if constexpr (json_map<T>) {
        return json_write_map(writer, from);
    } else if constexpr (json_tuple<T> && !json_array<T>) {
        return json_write_tuple(writer, from, std::make_index_sequence<std::tuple_size<T>::value>());
    } else if constexpr (json_array<T> || json_sequence<T>) {
        return json_write_sequence(writer, from);
    } else {
        static_assert(json_unsupported<T>,
                      "shove::json: this type has no JSON form; describe it with BOOST_DESCRIBE_STRUCT or see the "
                      "guide on codecs for the types that have one");
    }
}

template <class T>
bool json_write_time(json_writer& writer, const T& from) {
    constexpr json_time_unit unit = json_unit_of<typename T::duration>();
    return writer.time(from.time_since_epoch().count(), unit.num, unit.den);
}

template <class T>
bool json_write_library_type(json_writer& writer, const T& from) {
    if constexpr (json_optional<T>) {
        return json_write_optional(writer, from);
    } else if constexpr (json_variant<T>) {
        return json_write_variant(writer, from);
    } else if constexpr (json_time<T>) {
        return json_write_time(writer, from);
    } else if constexpr (json_duration<T>) {
        return json_write(writer, from.count());
    } else {
        return json_write_container(writer, from);
    }
}

template <class T>
concept json_byte_array = json_array<T> && std::same_as<typename T::value_type, std::byte>;

/// Writes one value of any supported type.
template <class T>
bool json_write(json_writer& writer, const T& from) {
    if constexpr (std::same_as<T, bool>) {
        writer.boolean(from);
        return true;
    } else if constexpr (json_integer<T>) {
        return json_write_integer(writer, from);
    } else if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
        return writer.number(from);
    } else if constexpr (std::same_as<T, std::string>) {
        return writer.string(from);
    } else if constexpr (json_bytes<T> || json_byte_array<T>) {
        return writer.bytes(from);
    } else if constexpr (std::is_enum_v<T>) {
        return json_write_enum(writer, from);
    } else if constexpr (json_described<T>) {
        return json_write_object(writer, from);
    } else {
        return json_write_library_type(writer, from);
    }
}

}  // namespace shove::detail
