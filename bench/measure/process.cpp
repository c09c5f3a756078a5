#include "process.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <string>

namespace shove::bench {

std::uint64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

cpu_time process_cpu() noexcept {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {seconds(used.ru_utime), seconds(used.ru_stime)};
}

std::uint64_t rss_peak_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string field; status >> field;) {
        std::uint64_t kib = 0;
        if (field == "VmHWM:" && status >> kib) return kib;
    }
    return 0;
}

double load_average() {
    std::ifstream file("/proc/loadavg");
    double load = -1;
    return file >> load ? load : -1;
}

machine_time machine_cpu() {
    // user nice system idle iowait irq softirq steal
    std::ifstream file("/proc/stat");
    std::string name;
    std::array<std::uint64_t, 8> ticks{};
    file >> name;
    for (auto& t : ticks)
        file >> t;
    machine_time sum;
    for (const auto t : ticks)
        sum.all += t;
    sum.busy = sum.all - ticks[3] - ticks[4];
    sum.steal = ticks[7];
    return sum;
}

machine_share share_between(const machine_time& from, const machine_time& to) noexcept {
    const auto all = static_cast<double>(std::max<std::uint64_t>(to.all - from.all, 1));
    return {100.0 * static_cast<double>(to.busy - from.busy) / all,
            100.0 * static_cast<double>(to.steal - from.steal) / all};
}

}  // namespace shove::bench
