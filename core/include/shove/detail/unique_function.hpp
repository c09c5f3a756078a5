#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace shove {

template <class Signature>
class unique_function;

/// A callable that is moved, never copied; small ones (six pointers) need no allocation.
/// Stands in for C++23's `std::move_only_function`.
template <class R, class... Args>
class unique_function<R(Args...)> {
public:
    unique_function() noexcept = default;
    unique_function(std::nullptr_t) noexcept {}

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, unique_function> &&
                 std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>)
    unique_function(F&& f) {
        using target = std::remove_cvref_t<F>;
        if constexpr (fits<target>) {
            ::new (static_cast<void*>(&storage_)) target(std::forward<F>(f));
            table_ = &inline_table<target>;
        } else {
            ::new (static_cast<void*>(&storage_)) target*(new target(std::forward<F>(f)));
            table_ = &heap_table<target>;
        }
    }

    unique_function(unique_function&& other) noexcept { take(other); }
    unique_function& operator=(unique_function&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    unique_function(const unique_function&) = delete;
    unique_function& operator=(const unique_function&) = delete;
    ~unique_function() { reset(); }

    explicit operator bool() const noexcept { return table_ != nullptr; }
    R operator()(Args... args) { return table_->call(&storage_, std::forward<Args>(args)...); }

private:
    static constexpr std::size_t capacity = 6 * sizeof(void*);
    struct operations {
        R (*call)(void*, Args&&...);
        void (*relocate)(void* from, void* to) noexcept;
        void (*destroy)(void*) noexcept;
    };

    template <class T>
    static constexpr bool fits =
        sizeof(T) <= capacity && alignof(T) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<T>;

    template <class T>
    static constexpr operations inline_table{
        [](void* p, Args&&... args) -> R { return std::invoke(*static_cast<T*>(p), std::forward<Args>(args)...); },
        [](void* from, void* to) noexcept {
            ::new (to) T(std::move(*static_cast<T*>(from)));
            static_cast<T*>(from)->~T();
        },
        [](void* p) noexcept { static_cast<T*>(p)->~T(); }};

    template <class T>
    static constexpr operations heap_table{
        [](void* p, Args&&... args) -> R { return std::invoke(**static_cast<T**>(p), std::forward<Args>(args)...); },
        [](void* from, void* to) noexcept { ::new (to) T*(*static_cast<T**>(from)); },
        [](void* p) noexcept { delete *static_cast<T**>(p); }};

    void take(unique_function& other) noexcept {
        if (other.table_) other.table_->relocate(&other.storage_, &storage_);
        table_ = std::exchange(other.table_, nullptr);
    }
    void reset() noexcept {
        if (auto* t = std::exchange(table_, nullptr)) t->destroy(&storage_);
    }

    alignas(std::max_align_t) std::byte storage_[capacity];
    const operations* table_ = nullptr;
};

}  // namespace shove
