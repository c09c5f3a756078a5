#include "offset_window.hpp"

#include <algorithm>

namespace shove::kafka_backend {

offset_window::offset_window(std::int64_t position, std::vector<offset_run> settled)
    : base_(position), before_(settled.begin(), settled.end()) {
    std::erase_if(before_, [&](const offset_run& run) { return run.end() <= position; });
}

bool offset_window::receive(std::int64_t offset) {
    if (offset < next()) return false;
    while (!before_.empty() && before_.front().end() <= offset)
        before_.pop_front();
    const bool done = !before_.empty() && before_.front().first <= offset;
    if (done) {  // the rest of its run stays for those that follow
        auto& run = before_.front();
        run.count = run.end() - (offset + 1);
        run.first = offset + 1;
        if (run.count == 0) before_.pop_front();
    }
    if (open_.empty()) base_ = offset;
    open_.resize(static_cast<std::size_t>(offset - base_), false);
    open_.push_back(!done);
    if (!done) ++unsettled_;
    advance();
    return !done;
}

bool offset_window::open(std::int64_t offset) const noexcept {
    return offset >= base_ && offset < next() && open_[static_cast<std::size_t>(offset - base_)];
}

bool offset_window::settle(std::int64_t offset) {
    if (!open(offset)) return false;
    open_[static_cast<std::size_t>(offset - base_)] = false;
    --unsettled_;
    advance();
    return true;
}

void offset_window::advance() {
    while (!open_.empty() && !open_.front()) {
        open_.pop_front();
        ++base_;
    }
}

std::vector<offset_run> offset_window::settled(std::size_t most) const {
    std::vector<offset_run> made;
    for (std::size_t i = 0; i < open_.size() && made.size() < most; ++i) {
        if (open_[i]) continue;
        const auto first = base_ + static_cast<std::int64_t>(i);
        while (i < open_.size() && !open_[i])
            ++i;
        made.push_back({first, base_ + static_cast<std::int64_t>(i) - first});
    }
    for (const auto& run : before_) {
        if (made.size() == most) break;
        if (!made.empty() && made.back().end() == run.first) {
            made.back().count += run.count;
        } else {
            made.push_back(run);
        }
    }
    return made;
}

}  // namespace shove::kafka_backend
