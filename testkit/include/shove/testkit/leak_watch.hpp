#pragma once

#include <shove/error.hpp>
#include <shove/event.hpp>
#include <shove/headers.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shove {
class metrics;
}

namespace shove::testkit {

/// Looks for what must not be told (bodies, header values, passwords) in what is told to people and programs. A text is
/// looked at when it is told, and not kept.
/// @par Thread safety  All members may be called from several threads.
class leak_watch {
public:
    /// From now on this must not be told. Fewer than `shortest` bytes are in any text, and are left out.
    void keep(std::string_view secret);
    /// From now on what a message holds must not be told: its body, and the texts and bytes of its headers. Left out is
    /// what is not unmistakable.
    void keep_message(std::span<const std::byte> body, headers_view headers);
    /// Something was told there.
    /// @param place  Said in a leak: "the field 'error' of the event 'receive_failed'".
    void told(std::string_view place, std::string_view text);
    /// An event's text and fields were told; but a `message_id` may be anything.
    void told(const event& what);
    /// The error was told, if it is one.
    void told(std::string_view place, const error& what);
    /// The values of its labels are told from now on.
    void told_by(std::shared_ptr<const metrics> what);
    /// What was told that must not be, with its place: the first `most_leaks` of them. Reads the metrics.
    std::vector<std::string> leaks();

    static constexpr std::size_t shortest = 4;
    static constexpr std::size_t most_leaks = 20;
    /// Of a text longer than twice this, its beginning and its end are kept, so many bytes of each.
    static constexpr std::size_t longest_part = 48;
    /// So many parts are kept; later ones are left out.
    static constexpr std::size_t most_parts = 100'000;

private:
    void keep_part(std::string_view part);

    std::mutex mutex_;
    std::unordered_map<std::uint32_t, std::set<std::string>> parts_;  ///< By their first four bytes.
    std::size_t count_ = 0;
    std::vector<std::string> leaks_;
    std::set<std::shared_ptr<const metrics>> metrics_;
};

/// No text has it by chance: six bytes or more, a letter among them, and not lower-case letters alone.
bool unmistakable(std::string_view text) noexcept;

}  // namespace shove::testkit
