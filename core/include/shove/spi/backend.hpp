#pragma once

#include <shove/spi/driver.hpp>

#include <concepts>
#include <memory>
#include <string_view>

namespace shove::spi {

/// A backend's tag: an empty struct, the only public thing of a backend beside its `config`.
///  - `Tag::config`: an aggregate with a default for every field that has one;
///  - `Tag::capabilities`: a `static constexpr spi::capabilities`;
///  - `Tag::schemes`: a `static constexpr` range of the URL schemes it answers to (`"sqlite"`);
///  - `Tag::parse(url)`: the configuration that a URL means;
///  - `Tag::open(config, context)`: connects, or checks what can be checked without waiting.
template <class Tag>
concept backend = requires(const typename Tag::config& config, const driver_context& context, std::string_view url) {
    { Tag::capabilities } -> std::convertible_to<const spi::capabilities&>;
    { *std::begin(Tag::schemes) } -> std::convertible_to<std::string_view>;
    { Tag::parse(url) } -> std::same_as<result<typename Tag::config>>;
    { Tag::open(config, context) } -> std::same_as<result<std::shared_ptr<driver>>>;
};

}  // namespace shove::spi
