#pragma once

#include <shove/message.hpp>
#include <shove/spi/delivery.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace shove::rabbitmq_backend {

/// What a message is known by when it is met again: a hash of its id, its times and its body. Messages that are alike
/// in all of that are as good as one another.
struct likeness {
    std::array<std::byte, 16> digest{};
    friend bool operator==(const likeness&, const likeness&) = default;
};
likeness likeness_of(const message& msg, const spi::history* past);

struct likeness_hash {
    std::size_t operator()(const likeness& what) const noexcept {
        std::size_t some = 0;
        std::memcpy(&some, what.digest.data(), sizeof some);
        return some;
    }
};
/// So many of each.
using likenesses = std::unordered_map<likeness, std::size_t, likeness_hash>;

/// Which messages of a queue were shown under which cursor. AMQP has no names for messages in a queue, so they are
/// looked for by their likeness; cursors rise, and none is used twice. Remembers the last 200,000. Pure.
class cursor_book {
public:
    /// A way through the queue, in pages.
    using reading = std::uint64_t;

    explicit cursor_book(std::uint64_t first = 1) noexcept : first_(first) {}
    /// The cursor that the next message gets.
    std::uint64_t next() const noexcept { return first_ + entries_.size(); }

    reading begin() noexcept { return ++last_reading_; }
    /// The next cursor, for a message that a reading has come to.
    std::uint64_t add(reading of, const likeness& what);
    /// The message of a cursor; nothing: it was removed, or is not remembered.
    std::optional<likeness> find(std::uint64_t cursor) const;
    /// It was removed.
    void forget(std::uint64_t cursor);

    /// How far a reading has come.
    struct progress {
        reading of = 0;
        likenesses seen;  ///< Not removed since.
    };
    /// Of the reading that has shown `cursor`. Nothing: it is not remembered.
    std::optional<progress> up_to(std::uint64_t cursor) const;

private:
    static constexpr std::size_t most = 200'000;
    struct entry {
        reading of = 0;
        likeness what;
        bool gone = false;
    };
    const entry* at(std::uint64_t cursor) const noexcept;

    std::deque<entry> entries_;  ///< The first has the cursor `first_`.
    std::uint64_t first_;
    reading last_reading_ = 0;
    reading cut_ = 0;  ///< Of this one, and of earlier ones, entries are missing.
};

}  // namespace shove::rabbitmq_backend
