#pragma once

#include <shove/detail/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shove::detail {

/// Holds a publish to a sequenced topic back while an earlier one of the same key is under way: until its fate is
/// known, nobody knows whether the later one would overtake it (G2).
/// @par Thread safety  Safe; what it calls runs without its lock.
class publish_order {
public:
    /// Stands for a key of a queue. Two that share one by chance wait for each other, and no more.
    using key_id = std::uint64_t;
    static key_id id_of(std::string_view queue, std::string_view key) noexcept;

    /// Calls `go` once no earlier publish of these keys is under way; each that went is ended by `leave`.
    /// @param keys  Distinct.
    void enter(const std::vector<key_id>& keys, unique_function<void()> go);
    void leave(const std::vector<key_id>& keys);

private:
    struct ticket {
        std::size_t blocked = 0;  ///< Keys of which another one is under way or comes first.
        unique_function<void()> go;
    };

    std::mutex mutex_;
    /// Who waits, by each key of which one is under way.
    std::unordered_map<key_id, std::vector<std::shared_ptr<ticket>>> lines_;
};

}  // namespace shove::detail
