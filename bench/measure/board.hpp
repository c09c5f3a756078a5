#pragma once

#include "event.hpp"
#include "sample.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace shove::bench {

/// Where handlers note what they got. Lock-free, except for the two events.
/// @par Thread safety  `begin` and `end` may be called from several threads at once.
class board {
public:
    /// @param total   Messages expected; their `seq` is below it.
    /// @param places  Of a sequenced run: where the messages of each key begin; message `seq` has key
    ///                `seq % places.size()`. A consumer's notes lie side by side then, as they do by `seq` else.
    explicit board(std::uint64_t total, std::vector<std::uint64_t> places = {});

    /// At the start of a handler. True if this delivery counts: not the probe, not a double.
    bool begin(const sample& message) noexcept;
    /// At the end of a handler whose `begin` was true, with its message's `seq`.
    void end(std::uint64_t seq) noexcept;
    /// Both for the messages of a batch, which begin at the same moment. What comes in sequence is counted at once.
    void note(std::span<const sample> batch) noexcept;

    event& finished() noexcept { return finished_; }
    event& probed() noexcept { return probed_; }

    std::uint64_t calls() const noexcept;
    std::uint64_t handled() const noexcept;
    std::uint64_t duplicates() const noexcept { return duplicates_.load(); }
    /// Messages of a sequenced run that began before the one before them in their key.
    std::uint64_t misordered() const noexcept { return misordered_.load(); }
    /// When the last message was handled; 0: it was not.
    std::uint64_t finished_at() const noexcept { return at_last_.load(); }
    /// Messages a second between the first and the last tenth; 0 if unknown.
    double steady_rate() const noexcept;
    /// Publish stamp to handler start of every handled message, in ns, sorted.
    std::vector<std::uint64_t> latencies() const;

private:
    /// Counts of messages whose places follow one another: mostly one consumer's, so that no counter is everybody's.
    struct block {
        std::atomic<std::uint32_t> calls{0};
        std::atomic<std::uint32_t> done{0};
    };
    static constexpr std::uint64_t block_size = 64;

    bool is_expected(const sample& message) noexcept;
    bool note_begin(const sample& message, std::uint64_t place, std::uint64_t now) noexcept;
    void note_done(std::uint64_t index, std::uint32_t n) noexcept;
    std::uint64_t in_block(std::uint64_t index) const noexcept;
    std::uint64_t place_of(std::uint64_t seq) const noexcept {
        return places_.empty() ? seq : places_[seq % places_.size()] + seq / places_.size();
    }
    void note_progress(std::uint64_t before, std::uint64_t after) noexcept;

    std::uint64_t total_;
    std::uint64_t blocks_count_;
    std::vector<std::uint64_t> places_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> latency_;  // ns plus one; 0: not handled yet
    std::unique_ptr<block[]> blocks_;
    alignas(64) std::atomic<std::uint64_t> done_{0};  ///< Of whole blocks.
    alignas(64) std::atomic<std::uint64_t> duplicates_{0};
    std::atomic<std::uint64_t> misordered_{0};
    std::atomic<std::uint64_t> strangers_{0};  ///< Calls for the probe, or for a `seq` that is none.
    std::atomic<std::uint64_t> at_tenth_{0};
    std::atomic<std::uint64_t> at_nine_tenths_{0};
    std::atomic<std::uint64_t> at_last_{0};
    event finished_;
    event probed_;
};

}  // namespace shove::bench
