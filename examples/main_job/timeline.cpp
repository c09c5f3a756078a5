#include "timeline.hpp"

#include <algorithm>
#include <cmath>

namespace main_job {

double timeline::now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void timeline::published(std::uint32_t count) {
    const std::lock_guard lock(mutex_);
    publishes_.emplace_back(now_s(), count);
}

void timeline::called(double waited_ms, std::uint32_t attempt, call_kind kind) {
    const std::lock_guard lock(mutex_);
    calls_.push_back({now_s(), waited_ms, attempt, kind});
}

std::vector<call> timeline::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::vector<std::pair<double, std::uint32_t>> timeline::publishes() const {
    const std::lock_guard lock(mutex_);
    return publishes_;
}

double quantile(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace main_job
