#pragma once

#include <shove/codec.hpp>
#include <shove/sbe_frame.hpp>
#include <shove/sbe_view.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace shove {

/// Simple Binary Encoding: a codec over the flyweight classes that the SBE tool generates. A message is one frame: the
/// header of 8 bytes, root block, groups, variable data. The topic says how its consumers get it:
/// @code
/// struct orders : shove::topic<shove::sbe_frame<market::Order>, shove::sbe<market::Order>> { … };  // a copy, checked
/// struct ticks : shove::topic<shove::sbe_view<market::Tick>, shove::sbe<market::Tick>> { … };      // in place
/// @endcode
/// Header rules, checked in this order in both forms: 8 bytes are there; the schema id is the flyweight's; so is the
/// template id; the root block is there. Any version is read, newer ones too, as is any length of the root block.
/// @par Thread safety  All functions may be called from several threads at once.
template <sbe_flyweight Flyweight>
struct sbe {
    static constexpr std::string_view content_type = "application/x-sbe";
    static constexpr bool replaces = true;

    /// Appends a frame; an `sbe_frame` converts.
    /// @par Errors  `errc::encode_failed`: the frame is empty.
    static result<void> encode(const sbe_view<Flyweight>& frame, std::string& out) {
        if (frame.empty()) return detail::sbe_empty(detail::type_name<Flyweight>());
        out.append(detail::sbe_chars(frame.bytes()), frame.bytes().size());
        return {};
    }

    /// Has `into` look at the bytes, without a copy: see `sbe_view::wrap`.
    static result<void> decode(std::span<const std::byte> bytes, sbe_view<Flyweight>& into, decode_scratch&) {
        auto wrapped = sbe_view<Flyweight>::wrap(bytes);
        if (!wrapped) return wrapped.error();
        into = std::move(*wrapped);
        return {};
    }

    /// Copies the bytes into `into`, whose memory is used again: see `sbe_frame::assign`.
    static result<void> decode(std::span<const std::byte> bytes, sbe_frame<Flyweight>& into, decode_scratch&) {
        return into.assign(bytes);
    }
};

}  // namespace shove
