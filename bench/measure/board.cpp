#include "board.hpp"

#include "process.hpp"

#include <algorithm>

namespace shove::bench {

board::board(std::uint64_t total, std::vector<std::uint64_t> places)
    : total_(total),
      blocks_count_((total + block_size - 1) / block_size),
      places_(std::move(places)),
      latency_(std::make_unique<std::atomic<std::uint64_t>[]>(total)),
      blocks_(std::make_unique<block[]>(blocks_count_)) {}

bool board::begin(const sample& message) noexcept {
    if (!is_expected(message)) return false;
    const auto place = place_of(message.seq);
    blocks_[place / block_size].calls.fetch_add(1, std::memory_order_relaxed);
    return note_begin(message, place, now_ns());
}

bool board::is_expected(const sample& message) noexcept {
    if (message.seq < total_) return true;
    strangers_.fetch_add(1, std::memory_order_relaxed);
    if (message.seq == probe_seq) {
        probed_.set();
    } else {
        duplicates_.fetch_add(1, std::memory_order_relaxed);
    }
    return false;
}

bool board::note_begin(const sample& message, std::uint64_t place, std::uint64_t now) noexcept {
    const auto waited = (now > message.sent_ns ? now - message.sent_ns : 0) + 1;
    std::uint64_t none = 0;
    if (!latency_[place].compare_exchange_strong(none, waited, std::memory_order_relaxed)) {
        duplicates_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    const bool first_of_key = places_.empty() || message.seq < places_.size();
    if (!first_of_key && latency_[place - 1].load(std::memory_order_relaxed) == 0) {
        misordered_.fetch_add(1, std::memory_order_relaxed);
    }
    return true;
}

void board::note(std::span<const sample> batch) noexcept {
    const auto now = now_ns();
    std::uint64_t index = 0;
    std::uint32_t calls = 0;
    std::uint32_t counting = 0;
    const auto count = [&] {
        if (calls > 0) blocks_[index].calls.fetch_add(calls, std::memory_order_relaxed);
        if (counting > 0) note_done(index, counting);
        calls = counting = 0;
    };
    for (const auto& message : batch) {
        if (!is_expected(message)) continue;
        const auto place = place_of(message.seq);
        if (place / block_size != index) count();
        index = place / block_size;
        ++calls;
        if (note_begin(message, place, now)) ++counting;
    }
    count();
}

void board::end(std::uint64_t seq) noexcept {
    note_done(place_of(seq) / block_size, 1);
}

void board::note_done(std::uint64_t index, std::uint32_t n) noexcept {
    const auto whole = in_block(index);
    if (blocks_[index].done.fetch_add(n, std::memory_order_acq_rel) + n < whole) return;
    const auto before = done_.fetch_add(whole, std::memory_order_acq_rel);
    note_progress(before, before + whole);
}

std::uint64_t board::in_block(std::uint64_t index) const noexcept {
    return std::min(block_size, total_ - index * block_size);
}

void board::note_progress(std::uint64_t before, std::uint64_t after) noexcept {
    const auto passed = [&](std::uint64_t mark) { return before < mark && mark <= after; };
    if (passed(total_ / 10)) at_tenth_.store(now_ns());
    if (passed(total_ - total_ / 10)) at_nine_tenths_.store(now_ns());
    if (passed(total_)) {
        at_last_.store(now_ns());
        finished_.set();
    }
}

std::uint64_t board::calls() const noexcept {
    auto sum = strangers_.load();
    for (std::uint64_t i = 0; i < blocks_count_; ++i)
        sum += blocks_[i].calls.load();
    return sum;
}

std::uint64_t board::handled() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < blocks_count_; ++i)
        sum += blocks_[i].done.load();
    return sum;
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
