// The index of keys against a plain map, by random work on few hashes, so that runs of slots collide and wrap.

#include "lease/key_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace shove::inprocess_backend::lease {
namespace {

RC_GTEST_PROP(lease_key_index, is_a_map, (const std::vector<std::pair<unsigned char, bool>>& work)) {
    key_index index;
    std::map<std::uint64_t, std::size_t> model;
    std::uint64_t last = 0;
    for (const auto& [bits, adds] : work) {
        if (adds || model.empty()) {
            // Few homes, the last of the table among them.
            const std::size_t hash = bits % 4 == 0 ? ~std::size_t{0} : bits % 7;
            index.insert(hash, ++last);
            model.emplace(last, hash);
        } else {
            const auto which = std::next(model.begin(), bits % static_cast<int>(model.size()));
            index.erase(which->second, which->first);
            model.erase(which);
        }
        RC_ASSERT(index.size() == model.size());
    }
    for (std::uint64_t number = 1; number <= last; ++number) {
        const auto there = model.find(number);
        const auto is_it = [&](std::uint64_t found) { return found == number; };
        if (there != model.end()) {
            RC_ASSERT(index.find(there->second, is_it) == number);
        } else {
            RC_ASSERT(index.find(~std::size_t{0}, is_it) == 0);
            for (std::size_t hash = 0; hash < 7; ++hash)
                RC_ASSERT(index.find(hash, is_it) == 0);
        }
    }
}

}  // namespace
}  // namespace shove::inprocess_backend::lease
