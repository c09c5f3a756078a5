#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// How a delivery is let go.
enum class release_kind : std::uint8_t {
    ack,
    requeue,  ///< Back to its place.
};

/// Whose deliveries a transaction lets go. Each is told exactly one thing, without a lock.
class transaction_user {
public:
    virtual ~transaction_user() = default;
    /// What is stored in the same step, through the default exchange; may be nothing.
    virtual std::span<const parcel> copies(std::size_t index) const = 0;
    /// It has happened.
    virtual void committed(std::size_t index) = 0;
    /// A copy does not go into a transaction. Nothing has happened, and the delivery is held as before.
    virtual void left_out(std::size_t index) = 0;
    /// It may have happened or not, or only the original is gone.
    virtual void uncertain(std::size_t index) = 0;
};

/// A delivery on its way out of this process.
struct departure {
    std::uint64_t tag = 0;
    release_kind how = release_kind::ack;
    message msg;
    std::int64_t mark = 0;                 ///< `copy_mark`.
    std::shared_ptr<transaction_user> of;  ///< Null: nobody waits for it.
    std::size_t index = 0;                 ///< For `of`.
};

/// The transaction of a channel that is under way, from its first frame to the server's answer; one at a time. Pure.
///
/// The server carries a commit out all the same when a queue of a copy is missing: it sends the copy back, and lets the
/// original go.
class transaction {
public:
    struct result {
        std::vector<departure> done;
        std::vector<departure> uncertain;
    };

    bool under_way() const noexcept { return !parts_.empty(); }
    std::size_t size() const noexcept { return parts_.size(); }
    const std::vector<departure>& parts() const noexcept { return parts_; }
    /// @param parts  Not empty.
    void begin(std::vector<departure> parts) {
        parts_ = std::move(parts);
        missing_.clear();
    }
    /// The queues that copies go to, each once.
    std::vector<std::string_view> targets() const;
    /// A copy came back: that queue is missing. Which of the copies for it were stored before that is not known.
    void returned(std::string_view queue) { missing_.emplace_back(queue); }
    bool misses_queues() const noexcept { return !missing_.empty(); }
    /// The server has answered.
    result committed();
    /// There will be no answer.
    std::vector<departure> lost();

private:
    bool misses_a_queue(const departure& part) const;

    std::vector<departure> parts_;
    std::vector<std::string> missing_;
};

}  // namespace shove::rabbitmq_backend
