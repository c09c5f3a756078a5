#pragma once

#include <shove/detail/unique_function.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace shove::detail {

/// Holds a publish to a sequenced topic back while an earlier one of the same key is under way: until its fate is
/// known, nobody knows whether the later one would overtake it (G2).
/// @par Thread safety  Safe; what it calls runs without its lock.
class publish_order {
public:
    /// Calls `go` once no earlier publish of these keys is under way; each that went is ended by `leave`.
    /// @param keys  Distinct, each with its queue's name in front: see `key_in`.
    void enter(const std::vector<std::string>& keys, unique_function<void()> go);
    void leave(const std::vector<std::string>& keys);

private:
    struct ticket {
        std::size_t blocked = 0;  ///< Keys of which another one is first.
        unique_function<void()> go;
    };

    std::mutex mutex_;
    std::unordered_map<std::string, std::deque<std::shared_ptr<ticket>>> lines_;
};

}  // namespace shove::detail
