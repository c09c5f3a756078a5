#pragma once

#include <shove/sbe_view.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace shove {

/// One SBE frame with its memory: what a publisher builds, and what a consumer gets as its own copy.
///
/// All of a frame is checked, groups and variable data too. Reading one that came from anybody stays within memory,
/// provided that entries of groups are read as far as they go, in the schema's order, and no entry's fixed part is
/// longer than `slack`.
/// @par Thread safety  As a value. Each reader needs a flyweight of its own.
template <sbe_flyweight Flyweight>
class sbe_frame {
public:
    /// Zeros behind each frame. An entry of a group that says to be shorter than the schema has it may be read beyond
    /// the frame's end by no more than the entry's fixed part.
    static constexpr std::size_t slack = 1024;

    /// An empty one.
    sbe_frame() = default;

    /// Builds a frame: see `build`.
    template <std::invocable<Flyweight&> Fill>
    explicit sbe_frame(Fill&& fill, std::size_t capacity = Flyweight::sbeBlockLength()) {
        build(std::forward<Fill>(fill), capacity);
    }

    /// Copies the frame of a view.
    /// @par Errors  Throws `exception` with `errc::decode_failed` if groups or variable data are not all there.
    explicit sbe_frame(const sbe_view<Flyweight>& view) {
        if (view.empty()) return;
        if (auto copied = assign(view.bytes()); !copied) throw exception(copied.error());
    }

    /// Replaces the frame by the one that `fill(flyweight)` writes; the memory is used again. The header is written
    /// before, and what `fill` does not set is zero.
    /// @param capacity  Room in bytes for root block, groups and variable data: what `Flyweight::computeLength` says,
    /// or
    ///                  more. Only what is written becomes part of the frame.
    /// @par Errors  What `fill` throws passes through, so the generated code's `std::runtime_error` where the capacity
    /// is too
    ///              small; `exception` with `errc::encode_failed` if `fill` left a group unfinished or one of the
    ///              groups and variable data out. The frame is then empty.
    template <std::invocable<Flyweight&> Fill>
    void build(Fill&& fill, std::size_t capacity = Flyweight::sbeBlockLength()) {
        size_ = 0;
        fill_memory({}, detail::sbe_header_bytes + capacity);
        Flyweight writer;
        writer.wrapAndApplyHeader(memory_.data(), 0, memory_.size() - slack);
        std::forward<Fill>(fill)(writer);
        size_ = detail::sbe_header_bytes + static_cast<std::size_t>(writer.encodedLength());
        if (check()) return;
        size_ = 0;
        throw exception(detail::sbe_damaged(errc::encode_failed, detail::type_name<Flyweight>()));
    }

    /// Replaces the frame by a copy of these bytes, after a check of all of it.
    /// @par Errors      `errc::decode_failed`: the first header rule that is broken, or groups or variable data that
    /// are
    ///                  cut off. The frame is then empty.
    /// @par Complexity  One copy and one step per entry of a group and piece of variable data.
    result<void> assign(std::span<const std::byte> bytes) {
        size_ = 0;
        const auto header = detail::read_sbe_header<Flyweight>(bytes);
        if (!header) return header.error();
        fill_memory(bytes, bytes.size());
        size_ = bytes.size();
        if (check()) return {};
        size_ = 0;
        return detail::sbe_damaged(errc::decode_failed, detail::type_name<Flyweight>());
    }

    /// A flyweight at the frame's start, to read from. It holds as long as the frame is neither changed nor destroyed.
    /// @par Errors  Throws `exception` where the frame is empty.
    Flyweight read() const { return view().read(); }

    /// The frame in place.
    sbe_view<Flyweight> view() const noexcept {
        if (empty()) return {};
        return {bytes(), *detail::read_sbe_header<Flyweight>(bytes())};
    }
    operator sbe_view<Flyweight>() const noexcept { return view(); }

    bool empty() const noexcept { return bytes().empty(); }
    /// The whole frame with its header.
    std::span<const std::byte> bytes() const noexcept {
        if (memory_.empty()) return {};  // moved from
        return std::as_bytes(std::span(memory_)).first(size_);
    }
    /// The version of the schema that the frame was written with.
    std::uint16_t version() const noexcept { return view().version(); }

private:
    /// These bytes, then zeros: up to `size`, to the end of a root block of the flyweight's, and the slack.
    void fill_memory(std::span<const std::byte> bytes, std::size_t size) {
        memory_.resize(std::max(size, detail::sbe_header_bytes + Flyweight::sbeBlockLength()) + slack);
        const auto end = std::copy_n(detail::sbe_chars(bytes), bytes.size(), memory_.begin());
        std::fill(end, memory_.end(), '\0');
    }

    bool check() const {
        const auto header = detail::read_sbe_header<Flyweight>(bytes());
        return header.has_value() && detail::sbe_is_whole<Flyweight>(bytes(), *header);
    }

    std::vector<char> memory_;
    std::size_t size_ = 0;
};

}  // namespace shove
