#pragma once

#include "strike.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace main_job {

/// The downstream system that strikes are filed with. It is made up, and sometimes busy: it turns away the
/// first call for 3 % of the records, and the second one for a tenth of these; always the same ones.
/// @par Thread safety  All members may be called from several threads.
class strike_register {
public:
    /// Files a strike. False: busy, try again later.
    bool file(const strike& what, std::uint32_t attempt);

    std::uint64_t filed() const;
    /// What all filed strikes cost together, in dollars.
    std::int64_t total_cost() const;
    /// The species most often hit among those that were identified, with their counts.
    std::vector<std::pair<std::string, std::uint64_t>> top_species(std::size_t count) const;

private:
    mutable std::mutex mutex_;
    std::uint64_t filed_ = 0;
    std::int64_t cost_ = 0;
    std::map<std::string, std::uint64_t> by_species_;
};

}  // namespace main_job
