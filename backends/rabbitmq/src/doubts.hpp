#pragma once

#include <shove/spi/delivery.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "note_reader.hpp"

namespace shove::rabbitmq_backend {

/// Messages that somebody had before, and of which it is not known whether a process died over them. The notes tell;
/// whoever lost them with its channel, and lives, writes its note a moment later, so that they are read again until a
/// grace is over. Pure.
class doubts {
public:
    static constexpr std::chrono::milliseconds look_again{200};
    /// After the grace: for notes that cannot be read.
    static constexpr std::chrono::seconds patience{10};

    struct verdicts {
        std::vector<spi::delivery> innocent;
        std::vector<spi::delivery> suspect;  ///< With their crashes in `past`: one at least.
    };

    /// @param most  So many that nobody noted are suspected in a row; those behind them are not: no process had them
    /// all in hand. A killed node marks all that its classic queues keep as delivered before.
    explicit doubts(std::size_t most = 1'000) : most_(most) {}

    /// @param until  The end of its grace. It has none where others have just waited in vain.
    void add(spi::delivery item, steady_time now, steady_time until);
    /// A message has come that nobody had before.
    void row_ends() noexcept { unnoted_ = 0; }
    /// Whether the notes are to be read now. Then `judge` follows, and `done`, before that is asked again.
    bool begin(steady_time now);
    /// Decides about what was there when the notes began to be read.
    /// @param found  Nothing: they could not be read.
    verdicts judge(const std::optional<findings>& found);
    void done(steady_time now);
    /// When `begin` is to be called.
    steady_time due() const noexcept;

    std::size_t size() const noexcept { return items_.size(); }
    std::vector<spi::delivery> take_all();
    /// Those of which the notes said nothing, by `record_id`.
    std::vector<std::string> missed() const;
    /// The channel is gone, and all with it.
    void clear();

private:
    struct doubt {
        spi::delivery item;
        steady_time until;    ///< It is suspect then.
        bool asked = false;   ///< The notes that are read, or were read last, are newer.
        bool missed = false;  ///< They said nothing.
    };
    enum class verdict : std::uint8_t { none, innocent, suspect };
    verdict of(doubt& one, const std::optional<findings>& found);

    const std::size_t most_;
    std::vector<doubt> items_;
    std::size_t unnoted_ = 0;  ///< Suspected in a row.
    steady_time began_{};
    steady_time next_{};
    steady_time in_vain_{};  ///< Till then.
    bool reading_ = false;
};

}  // namespace shove::rabbitmq_backend
