#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "cluster.hpp"
#include "offset_window.hpp"

namespace shove::kafka_backend {

/// Single records cannot be taken out of a log: what is removed is settled in the name of the group that reads it.
struct removal {
    committed_offset commit;              ///< The group's next commit.
    std::vector<std::int64_t> offsets{};  ///< What is settled by it that was not, in order.
};

/// Adds offsets to what a group has settled. As many as the metadata of a commit has room for, the lowest first.
/// @param last  What the group has committed; nothing: it begins at `low`.
removal settle_away(const std::optional<committed_offset>& last, std::int64_t low,
                    const std::set<std::int64_t>& offsets);

/// Which records are open to a group: at or above the committed offset and not in a run that is settled above it.
class open_records {
public:
    open_records(const std::optional<committed_offset>& last, std::int64_t low);
    std::int64_t first() const noexcept { return first_; }
    bool operator()(std::int64_t offset) const noexcept;

private:
    std::int64_t first_;
    std::vector<offset_run> settled_;
};

}  // namespace shove::kafka_backend
