#pragma once

#include "core.hpp"

#include <memory>

namespace shove::in_memory {

/// The queue of one subscription to a broadcast: it is fed from `open` to `end`, and goes with its messages.
class tap : public std::enable_shared_from_this<tap> {
public:
    tap(std::shared_ptr<core> shared, queue& broadcast) : core_(std::move(shared)), broadcast_(broadcast) {}
    tap(const tap&) = delete;
    tap& operator=(const tap&) = delete;
    ~tap();

    /// False: the broadcast's queue is closed.
    bool open();
    void end();
    /// Once it is open.
    queue& target() noexcept { return *queue_; }

private:
    const std::shared_ptr<core> core_;
    queue& broadcast_;
    std::unique_ptr<queue> queue_;
};

}  // namespace shove::in_memory
