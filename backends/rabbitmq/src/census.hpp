#pragma once

#include <shove/clock.hpp>

#include <memory>
#include <mutex>
#include <vector>

#include "management_desk.hpp"

namespace shove::rabbitmq_backend {

/// The queues of a virtual host, by name, for those who ask often: one list serves all who ask within a short time.
using queue_list = std::shared_ptr<const std::vector<queue_stats>>;

/// @par Thread safety  Safe.
class census : public std::enable_shared_from_this<census> {
public:
    using found = unique_function<void(const queue_list&)>;

    explicit census(std::shared_ptr<management_desk> desk) : desk_(std::move(desk)) {}
    /// A list that is not older than twice the time that it took to get, or a tenth of a second. Null: not to be had
    /// now; then it is not asked for again for some seconds, so that whoever counts does not wait each time.
    void recent(found done);

private:
    void answered(result<std::vector<queue_stats>> list, steady_time since);

    const std::shared_ptr<management_desk> desk_;
    std::mutex mutex_;  ///< Guards all below.
    queue_list last_;
    steady_time until_{};
    bool asking_ = false;
    std::vector<found> waiting_;
};

/// The queue of that name, if it is in the list.
const queue_stats* find_queue(const queue_list& list, std::string_view name);
/// An argument's value; empty: it has none.
std::string_view argument(const queue_stats& of, std::string_view name);

}  // namespace shove::rabbitmq_backend
