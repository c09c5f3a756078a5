#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace shove::inprocess_backend::lease {

/// Where the message of a key is: hashes and numbers side by side, so that a look-up among millions costs one miss of
/// the cache. The keys themselves are compared by the caller. Open addressing; what is erased leaves no tombstone.
class key_index {
public:
    /// The first number of that hash for which `is_it` holds; 0: none.
    template <class IsIt>
    std::uint64_t find(std::size_t hash, IsIt is_it) const {
        if (slots_.empty()) return 0;
        for (auto at = home(hash); slots_[at].number != 0; at = next(at)) {
            if (slots_[at].hash == hash && is_it(slots_[at].number)) return slots_[at].number;
        }
        return 0;
    }

    /// @param number  Above 0, and not in it.
    void insert(std::size_t hash, std::uint64_t number) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        put({hash, number});
        ++used_;
    }

    void erase(std::size_t hash, std::uint64_t number) {
        auto hole = home(hash);
        while (slots_[hole].number != number)
            hole = next(hole);
        // What follows moves up, as long as that brings it no farther from home.
        for (auto at = next(hole); slots_[at].number != 0; at = next(at)) {
            if (distance(home(slots_[at].hash), at) < distance(hole, at)) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole] = {};
        --used_;
    }

    std::size_t size() const noexcept { return used_; }

private:
    struct slot {
        std::size_t hash = 0;
        std::uint64_t number = 0;  ///< 0: empty.
    };

    std::size_t home(std::size_t hash) const noexcept { return hash & (slots_.size() - 1); }
    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept { return (to - from) & (slots_.size() - 1); }

    void put(slot what) {
        auto at = home(what.hash);
        while (slots_[at].number != 0)
            at = next(at);
        slots_[at] = what;
    }

    void grow() {
        auto old = std::move(slots_);
        slots_ = std::vector<slot>(old.empty() ? 16 : 2 * old.size());
        for (const auto& each : old) {
            if (each.number != 0) put(each);
        }
    }

    std::vector<slot> slots_;  ///< A power of two, at most half full.
    std::size_t used_ = 0;
};

}  // namespace shove::inprocess_backend::lease
