#pragma once

#include <shove/detail/sbe_header.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace shove {

/// A message class that the SBE tool generated for C++; tested with its version 1.30.
template <class F>
concept sbe_flyweight = std::default_initializable<F> && std::copyable<F> && requires(F& reader) {
    typename F::messageHeader;
    { F::sbeBlockLength() } -> std::convertible_to<std::uint16_t>;
    { F::sbeTemplateId() } -> std::convertible_to<std::uint16_t>;
    { F::sbeSchemaId() } -> std::convertible_to<std::uint16_t>;
    { F::isConstLength() } -> std::convertible_to<bool>;
    reader.skip();
};

template <sbe_flyweight Flyweight>
class sbe_frame;

/// One SBE frame in memory of somebody else.
///
/// In a handler that is the broker's message: nothing was copied, and view and flyweights hold until the handler
/// returns (a coroutine: until it ends). To keep a message, make it an `sbe_frame`.
///
/// Header and root block are checked, and whatever the header says, fields of the root block are read within memory.
/// Groups and variable data are checked by the generated code alone, as they are read, and not everywhere: use views of
/// messages that have them where you trust who publishes, else `sbe_frame`.
/// @par Thread safety  As a pointer. Each reader needs a flyweight of its own.
template <sbe_flyweight Flyweight>
class sbe_view {
public:
    /// An empty one.
    sbe_view() noexcept = default;

    /// Looks at the bytes, which must outlive the view.
    /// @par Errors      `errc::decode_failed`, for the first header rule that is broken; the detail names type, rule
    /// and
    ///                  numbers.
    /// @par Complexity  Constant. A root block that is shorter than the flyweight's, as an older version's may be, is
    /// copied
    ///                  if the frame ends before the flyweight's fields do.
    static result<sbe_view> wrap(std::span<const std::byte> bytes) {
        const auto header = detail::read_sbe_header<Flyweight>(bytes);
        if (!header) return header.error();
        sbe_view made(bytes, *header);
        constexpr std::size_t reached = detail::sbe_header_bytes + Flyweight::sbeBlockLength();
        if (bytes.size() < reached) made.lengthen(reached);
        return made;
    }

    /// A flyweight at the frame's start, to read from only. Its setters write into the broker's memory.
    /// @par Errors  Throws `exception` where the view is empty.
    Flyweight read() const {
        if (empty()) throw exception(detail::sbe_empty(detail::type_name<Flyweight>()));
        return detail::read_sbe<Flyweight>(readable_, header_);
    }

    bool empty() const noexcept { return bytes_.empty(); }
    /// The whole frame with its header, as it came.
    std::span<const std::byte> bytes() const noexcept { return bytes_; }
    /// The version of the schema that the frame was written with.
    std::uint16_t version() const noexcept { return header_.version; }

private:
    friend class sbe_frame<Flyweight>;

    sbe_view(std::span<const std::byte> bytes, detail::sbe_header header) noexcept
        : bytes_(bytes), readable_(bytes), header_(header) {}

    /// Zeros follow the frame.
    void lengthen(std::size_t size) {
        auto memory = std::make_shared<std::byte[]>(size);
        std::copy(bytes_.begin(), bytes_.end(), memory.get());
        readable_ = {memory.get(), bytes_.size()};
        longer_ = std::move(memory);
    }

    std::span<const std::byte> bytes_;
    std::span<const std::byte> readable_;  ///< The same bytes, but what follows them may be read.
    detail::sbe_header header_;
    std::shared_ptr<const std::byte[]> longer_;
};

}  // namespace shove
