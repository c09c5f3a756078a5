#include "board.hpp"

#include "process.hpp"

#include <algorithm>

namespace shove::bench {

board::board(std::uint64_t total) : total_(total), latency_(std::make_unique<std::atomic<std::uint64_t>[]>(total)) {}

bool board::begin(const sample& message) noexcept {
    if (message.seq == probe_seq) {
        probed_.set();
        return false;
    }
    const auto now = now_ns();
    const auto waited = (now > message.sent_ns ? now - message.sent_ns : 0) + 1;
    std::uint64_t none = 0;
    if (message.seq >= total_ ||
        !latency_[message.seq].compare_exchange_strong(none, waited, std::memory_order_relaxed)) {
        duplicates_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    return true;
}

void board::end() noexcept {
    const auto count = done_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (count == total_ / 10) at_tenth_.store(now_ns());
    if (count == total_ - total_ / 10) at_nine_tenths_.store(now_ns());
    if (count == total_) {
        at_last_.store(now_ns());
        finished_.set();
    }
}

double board::steady_rate() const noexcept {
    const auto from = at_tenth_.load();
    const auto to = at_nine_tenths_.load();
    if (from == 0 || to <= from) return 0;
    return static_cast<double>(total_ - 2 * (total_ / 10)) * 1e9 / static_cast<double>(to - from);
}

std::vector<std::uint64_t> board::latencies() const {
    std::vector<std::uint64_t> all;
    all.reserve(total_);
    for (std::uint64_t i = 0; i < total_; ++i) {
        if (const auto waited = latency_[i].load(std::memory_order_relaxed); waited > 0) all.push_back(waited - 1);
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace shove::bench
