#pragma once

#include <shove/batch.hpp>
#include <shove/spi/delivery.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace shove::decide {

/// Collects messages and says when a batch of them is due: in the order of arrival, no more messages or bytes than the
/// limits say, and complete, or its first message as old as `max_age`. Pure: no I/O, no clock.
class batcher {
public:
    explicit batcher(const batch_options& limits) noexcept : limits_(limits) {}

    void add(spi::delivery item, steady_time now);
    /// Whether nothing can be added to the next batch.
    bool full() const noexcept { return waiting_.size() >= limits_.max_messages || bytes_ >= limits_.max_bytes; }
    /// When the next batch is due by its age.
    std::optional<steady_time> next_due() const;
    bool empty() const noexcept { return waiting_.empty(); }

    /// The messages of the next batch, due or not.
    template <class F>
    void take(F&& each) {
        std::size_t messages = 0;
        std::size_t bytes = 0;
        while (!waiting_.empty() && messages < limits_.max_messages) {
            const auto size = waiting_.front().item.msg.payload().size();
            if (messages > 0 && bytes + size > limits_.max_bytes) break;
            bytes += size;
            ++messages;
            each(std::move(waiting_.front().item));
            waiting_.pop_front();
        }
        bytes_ -= bytes;
    }
    /// The messages behind the next batch: they leave, it stays.
    std::vector<spi::delivery> take_rest();
    /// Drops the messages that `is_gone` says; gives how many.
    template <class F>
    std::size_t drop(F&& is_gone) {
        return std::erase_if(waiting_, [&](const waiting& w) {
            if (!is_gone(w.item)) return false;
            bytes_ -= w.item.msg.payload().size();
            return true;
        });
    }
    template <class F>
    void for_each(F&& action) const {
        for (const auto& w : waiting_)
            action(w.item);
    }

private:
    struct waiting {
        spi::delivery item;
        steady_time since{};
    };

    const batch_options limits_;
    std::deque<waiting> waiting_;
    std::size_t bytes_ = 0;
};

}  // namespace shove::decide
