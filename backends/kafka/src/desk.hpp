#pragma once

#include <shove/kafka.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "control.hpp"

namespace shove::kafka_backend {

/// Asks the cluster and has topics made, one question at a time, on a thread that may block.
/// @par Thread safety  Safe; the blocking members run on the helper's thread only.
class desk final : public std::enable_shared_from_this<desk> {
public:
    explicit desk(std::shared_ptr<control> asking) : asking_(std::move(asking)) {}

    /// Runs `what` where it may block, and may use the blocking members.
    void run(unique_function<void()> what, unique_function<void(const error&)> refused);

    /// Makes a topic unless it is there, with as many partitions as another one; remembers that it is there.
    /// `done` is told whether it was made, or seen for the first time, just now.
    void ensure(const std::string& topic, const std::string& like, spi::callback<void(error, bool)> done);

    /// These are there: they were declared.
    void note(const std::vector<std::string>& topics);
    /// It is not there any more.
    void forget(const std::string& topic);
    /// Whether a topic is there; remembers it if it is.
    void look_for(const std::string& topic, spi::callback<void(error, bool)> done);

    // Blocking:
    cluster on() const { return {client_, asking_->patience()}; }
    error make_now(const std::vector<new_topic>& topics);

private:
    bool knows(const std::string& topic);
    const std::shared_ptr<control> asking_;
    rd_kafka_t* client_ = nullptr;  ///< The thread's.
    std::mutex mutex_;
    std::set<std::string> known_;  ///< Guarded.
};

}  // namespace shove::kafka_backend
