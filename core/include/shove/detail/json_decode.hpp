#pragma once

#include <shove/detail/json_kinds.hpp>
#include <shove/detail/json_reader.hpp>

// How each kind of type is read. All loops and checks are in the library; these templates only
// tell it the types.
namespace shove::detail {

template <class T>
bool json_read(json_reader& reader, T& into);

/// `json_read` behind a pointer.
template <class T>
bool json_read_erased(json_reader& reader, void* into) {
    return json_read(reader, *static_cast<T*>(into));
}

template <class T, class D>
bool json_read_member(json_reader& reader, void* object) {
    return json_read(reader, static_cast<T*>(object)->*D::pointer);
}

template <class T, class D>
void json_reset_member(void* object) {
    (static_cast<T*>(object)->*D::pointer).reset();
}

template <class T, class D>
constexpr json_field json_field_of() {
    using member = std::remove_reference_t<decltype(std::declval<T&>().*D::pointer)>;
    if constexpr (json_optional<member>) {
        return {D::name, &json_read_member<T, D>, &json_reset_member<T, D>};
    } else {
        return {D::name, &json_read_member<T, D>, nullptr};
    }
}

template <class T, class Members>
struct json_field_table;

template <class T, template <class...> class L, class... D>
struct json_field_table<T, L<D...>> {
    static_assert(sizeof...(D) <= 256, "shove::json: a struct may have 256 fields at most");
    static_assert(json_distinct(std::array<std::string_view, sizeof...(D)>{D::name...}),
                  "shove::json: two fields of this struct, inherited ones included, have the same name");
    static constexpr std::array<json_field, sizeof...(D)> fields{json_field_of<T, D>()...};
};

template <class T>
bool json_read_integer(json_reader& reader, T& into) {
    using limits = std::numeric_limits<T>;
    bool ok = false;
    if constexpr (std::signed_integral<T>) {
        std::int64_t value = 0;
        ok = reader.signed_integer(value, limits::min(), limits::max());
        into = static_cast<T>(value);
    } else {
        std::uint64_t value = 0;
        ok = reader.unsigned_integer(value, limits::max());
        into = static_cast<T>(value);
    }
    return ok;
}

template <class T>
bool json_read_enum(json_reader& reader, T& into) {
    std::uint64_t value = 0;
    const bool ok = reader.enumerator(value, json_enumerators<T>());
    into = static_cast<T>(value);
    return ok;
}

template <class T>
bool json_read_optional(json_reader& reader, T& into) {
    static_assert(!json_optional<typename T::value_type>, "shove::json: null cannot tell two optionals apart");
    if (reader.null()) {
        into.reset();
        return true;
    }
    if (!into.has_value()) into.emplace();
    return json_read(reader, *into);
}

template <class T>
bool json_read_duration(json_reader& reader, T& into) {
    typename T::rep count{};
    const bool ok = json_read(reader, count);
    into = T(count);
    return ok;
}

template <class T>
bool json_read_time(json_reader& reader, T& into) {
    using duration = typename T::duration;
    std::int64_t count = 0;
    const bool ok = reader.time(count, json_unit_of<duration>());
    into = T(duration(static_cast<typename duration::rep>(count)));
    return ok;
}

template <class V, std::size_t I>
bool json_read_alternative(json_reader& reader, void* variant) {
    auto& into = *static_cast<V*>(variant);
    if (into.index() != I) into.template emplace<I>();
    using content = std::remove_reference_t<decltype(get<I>(into))>;
    if constexpr (json_described<content>) {
        return json_read(reader, get<I>(into));
    } else {
        return true;
    }
}

template <class V, std::size_t I>
void json_select_alternative(void* variant) {
    static_cast<V*>(variant)->template emplace<I>();
}

template <class V, class Indices>
struct json_alternative_table;

template <template <class...> class V, class... T, std::size_t... I>
struct json_alternative_table<V<T...>, std::index_sequence<I...>> {
    static_assert(json_distinct(std::array<std::string_view, sizeof...(T)>{json_tag<T>()...}),
                  "shove::json: two alternatives of this variant have the same tag");
    static constexpr std::array<json_alternative, sizeof...(T)> alternatives{
        json_alternative{json_tag<T>(), &json_read_alternative<V<T...>, I>,
                         json_unit<T>() ? &json_select_alternative<V<T...>, I> : nullptr}...};
};

template <class V>
struct json_variant_indices;

template <template <class...> class V, class... T>
struct json_variant_indices<V<T...>> {
    using type = std::index_sequence_for<T...>;
};

template <class T>
bool json_read_variant(json_reader& reader, T& into) {
    using indices = typename json_variant_indices<T>::type;
    return reader.variant(&into, json_alternative_table<T, indices>::alternatives);
}

template <class K>
bool json_read_key(json_reader& reader, std::string_view text, K& into) {
    bool ok = true;
    if constexpr (std::same_as<K, std::string>) {
        into.assign(text);
    } else if constexpr (std::is_enum_v<K>) {
        std::uint64_t value = 0;
        ok = reader.enumerator_key(text, value, json_enumerators<K>());
        into = static_cast<K>(value);
    } else if constexpr (std::signed_integral<K>) {
        std::int64_t value = 0;
        ok = reader.signed_key(text, value, std::numeric_limits<K>::min(), std::numeric_limits<K>::max());
        into = static_cast<K>(value);
    } else {
        static_assert(json_integer<K>, "shove::json: a map's key is a std::string, an integer or a described enum");
        std::uint64_t value = 0;
        ok = reader.unsigned_key(text, value, std::numeric_limits<K>::max());
        into = static_cast<K>(value);
    }
    return ok;
}

template <class T>
bool json_read_entry(json_reader& reader, void* map, std::string_view text) {
    typename T::key_type key{};
    if (!json_read_key(reader, text, key)) return false;
    const auto [position, fresh] = static_cast<T*>(map)->try_emplace(std::move(key));
    return fresh ? json_read(reader, position->second) : reader.duplicate_key();
}

template <class T>
bool json_read_map(json_reader& reader, T& into) {
    into.clear();
    return reader.map(&into, &json_read_entry<T>);
}

/// Old elements are read over, so that their memory is used again.
template <class T>
bool json_read_element(json_reader& reader, void* array, std::size_t index) {
    T& into = *static_cast<T*>(array);
    if constexpr (json_indexed<T>) {
        return json_read(reader, index < into.size() ? into[index] : into.emplace_back());
    } else {
        typename T::value_type value{};
        const bool ok = json_read(reader, value);
        into.emplace_back(std::move(value));
        return ok;
    }
}

template <class T>
bool json_read_sequence(json_reader& reader, T& into) {
    if constexpr (!json_indexed<T>) into.clear();
    std::size_t count = 0;
    const bool ok = reader.array(&into, &json_read_element<T>, count);
    if (count < into.size()) into.resize(count);
    return ok;
}

template <class T>
bool json_read_array_element(json_reader& reader, void* array, std::size_t index) {
    return json_read(reader, (*static_cast<T*>(array))[index]);
}

template <class T>
bool json_read_array(json_reader& reader, T& into) {
    if constexpr (std::same_as<typename T::value_type, std::byte>) {
        return reader.bytes(std::span<std::byte>(into));
    } else {
        return reader.fixed_array(&into, &json_read_array_element<T>, std::tuple_size<T>::value);
    }
}

template <class T, std::size_t I>
bool json_read_tuple_element(json_reader& reader, void* tuple) {
    return json_read(reader, get<I>(*static_cast<T*>(tuple)));
}

template <class T, std::size_t... I>
bool json_read_tuple_element_at(json_reader& reader, void* tuple, std::size_t index, std::index_sequence<I...>) {
    using function = bool (*)(json_reader&, void*);
    static constexpr std::array<function, sizeof...(I)> elements{&json_read_tuple_element<T, I>...};
    return elements[index](reader, tuple);
}

template <class T>
bool json_read_tuple(json_reader& reader, T& into) {
    constexpr auto size = std::tuple_size<T>::value;
    const auto element = [](json_reader& r, void* tuple, std::size_t index) {
        return json_read_tuple_element_at<T>(r, tuple, index, std::make_index_sequence<size>());
    };
    return reader.fixed_array(&into, element, size);
}

template <class T>
bool json_read_container(json_reader& reader, T& into) {
    if constexpr (json_map<T>) {
        return json_read_map(reader, into);
    } else if constexpr (json_array<T>) {
        return json_read_array(reader, into);
    } else if constexpr (json_tuple<T>) {
        return json_read_tuple(reader, into);
    } else if constexpr (json_sequence<T>) {
        return json_read_sequence(reader, into);
    } else {
        static_assert(json_unsupported<T>,
                      "shove::json: this type has no JSON form; describe it with BOOST_DESCRIBE_STRUCT or see the "
                      "guide on codecs for the types that have one");
    }
}

template <class T>
bool json_read_library_type(json_reader& reader, T& into) {
    if constexpr (json_optional<T>) {
        return json_read_optional(reader, into);
    } else if constexpr (json_variant<T>) {
        return json_read_variant(reader, into);
    } else if constexpr (json_time<T>) {
        return json_read_time(reader, into);
    } else if constexpr (json_duration<T>) {
        return json_read_duration(reader, into);
    } else {
        return json_read_container(reader, into);
    }
}

/// Reads one value of any supported type.
template <class T>
bool json_read(json_reader& reader, T& into) {
    if constexpr (std::same_as<T, bool>) {
        return reader.boolean(into);
    } else if constexpr (json_integer<T>) {
        return json_read_integer(reader, into);
    } else if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
        return reader.number(into);
    } else if constexpr (std::same_as<T, std::string>) {
        return reader.string(into);
    } else if constexpr (json_bytes<T>) {
        return reader.bytes(into);
    } else if constexpr (std::is_enum_v<T>) {
        return json_read_enum(reader, into);
    } else if constexpr (json_described<T>) {
        return reader.object(&into, json_field_table<T, json_members<T>>::fields);
    } else {
        return json_read_library_type(reader, into);
    }
}

}  // namespace shove::detail
