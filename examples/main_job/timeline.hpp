#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace main_job {

/// How one call of the handler ended.
enum class call_kind : std::uint8_t { filed, turned_away, rejected };

struct call {
    double at_s = 0;       ///< Since the job's start.
    double waited_ms = 0;  ///< From publish to this call.
    std::uint32_t attempt = 1;
    call_kind kind = call_kind::filed;
};

/// What happened when, for the summary and the picture.
/// @par Thread safety  All members may be called from several threads.
class timeline {
public:
    timeline() { restart(); }

    /// Lets time begin now. Not while others use it.
    void restart() { start_ = std::chrono::steady_clock::now(); }
    void published(std::uint32_t count);
    void called(double waited_ms, std::uint32_t attempt, call_kind kind);

    double now_s() const;
    std::vector<call> calls() const;
    /// (seconds, messages) of each publish.
    std::vector<std::pair<double, std::uint32_t>> publishes() const;

private:
    std::chrono::steady_clock::time_point start_;
    mutable std::mutex mutex_;
    std::vector<call> calls_;
    std::vector<std::pair<double, std::uint32_t>> publishes_;
};

/// The value below which `share` of the values lie; 0 for none. Sorts them.
double quantile(std::vector<double>& values, double share);

}  // namespace main_job
