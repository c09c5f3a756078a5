#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace shove::detail {

struct by_default_t {};
/// Marks a value as the library's own: a setting of it was not given by anyone.
inline constexpr by_default_t by_default{};

/// A value of type `T` that knows whether it was given, so that what was left out can be taken from somewhere
/// else. Reads and is assigned as a `T`.
template <class T>
class setting {
public:
    template <class... Args>
    constexpr explicit setting(by_default_t, Args&&... args) : value_(std::forward<Args>(args)...), given_(false) {}

    constexpr setting(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): stands for a T
    /// From what a `T` can be made of; numbers are made before, so that the compiler still checks their range.
    template <class U>
        requires(std::is_class_v<T> && !std::same_as<std::remove_cvref_t<U>, T> &&
                 !std::same_as<std::remove_cvref_t<U>, setting> && std::is_convertible_v<U, T>)
    constexpr setting(U&& value)  // NOLINT(google-explicit-constructor): stands for a T
        : value_(static_cast<T>(std::forward<U>(value))) {}
    /// From a braced pair: `{1, 8}`.
    template <class A, class B>
        requires std::is_constructible_v<T, A, B>
    constexpr setting(A first, B second) : value_(first, second) {}

    constexpr operator const T&() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)
    constexpr const T& value() const noexcept { return value_; }
    /// Whether someone gave the value.
    constexpr bool given() const noexcept { return given_; }

private:
    T value_;
    bool given_ = true;
};

}  // namespace shove::detail
