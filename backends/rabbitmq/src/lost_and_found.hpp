#pragma once

#include <shove/detail/unique_function.hpp>
#include <shove/spi/delivery.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace shove::rabbitmq_backend {

/// Messages whose channel went while this process had them in hand. They come back, to this process or another one;
/// where it is this one, the call that is under way decides about them, and there is no second one. By name: the
/// message id, or that of a copy; an empty one is nobody's. Bounded.
/// @par Thread safety  Safe. What it calls runs without its lock.
class lost_and_found {
public:
    /// Settles a message that came back as its first call says. False: it is lost again.
    using applier = unique_function<bool(spi::settlement&)>;

    explicit lost_and_found(std::size_t most = 10'000) : most_(most) {}

    /// The channel is gone, and a call for this message may be under way.
    void lost(std::string name);
    /// A message has come. True: its call still goes on, and `apply` is called with what it says.
    bool came_back(const std::string& name, applier apply);
    /// A message has come: what was decided about it meanwhile, if anything was. It is forgotten then.
    std::optional<spi::settlement> answer_for(const std::string& name);
    /// The call has ended. True: the message had come back, and is settled; false: it is not back.
    bool answered(const std::string& name, spi::settlement& how);
    /// The call has ended, and its message is lost: should it come back, it needs no other one.
    void remember(const std::string& name, spi::settlement how);
    /// A message of that name has come which nobody had before: what was decided is not about it.
    void is_new(const std::string& name);
    bool empty() const noexcept { return count_ == 0; }

private:
    struct record {
        applier apply;                          ///< Where it is back.
        std::optional<spi::settlement> answer;  ///< Where the call has ended.
    };
    using records = std::unordered_map<std::string, record>;
    void erase(records::iterator at);

    const std::size_t most_;
    mutable std::mutex mutex_;
    records known_;
    std::deque<std::string> order_;      ///< Oldest first; some are gone.
    std::atomic<std::size_t> count_{0};  ///< Of `known_`.
};

}  // namespace shove::rabbitmq_backend
