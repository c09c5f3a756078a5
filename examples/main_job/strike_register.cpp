#include "strike_register.hpp"

#include <algorithm>

namespace main_job {
namespace {

/// How many calls for this record are turned away.
std::uint32_t refusals(std::uint32_t record) {
    std::uint64_t x = record * 0x9e37'79b9'7f4a'7c15U;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    const auto lot = (x ^ (x >> 27)) % 1000;
    return lot < 3 ? 2 : lot < 30 ? 1 : 0;
}

}  // namespace

bool strike_register::file(const strike& what, std::uint32_t attempt) {
    if (attempt <= refusals(what.record)) return false;
    const std::lock_guard lock(mutex_);
    ++filed_;
    cost_ += what.cost_other + what.cost_repair;
    ++by_species_[what.species];
    return true;
}

std::uint64_t strike_register::filed() const {
    const std::lock_guard lock(mutex_);
    return filed_;
}

std::int64_t strike_register::total_cost() const {
    const std::lock_guard lock(mutex_);
    return cost_;
}

std::vector<std::pair<std::string, std::uint64_t>> strike_register::top_species(std::size_t count) const {
    std::vector<std::pair<std::string, std::uint64_t>> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, hits] : by_species_) {
            if (!name.starts_with("Unknown")) all.emplace_back(name, hits);
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    all.resize(std::min(count, all.size()));
    return all;
}

}  // namespace main_job
