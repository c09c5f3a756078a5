#pragma once

#include <shove/message.hpp>
#include <shove/spi/driver.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "control.hpp"
#include "handle.hpp"
#include "loop.hpp"

namespace shove::kafka_backend {

/// The poisoned keys of a sequenced topic: a compacted topic of one partition beside it, read from its beginning and
/// followed. A record's key is the sequence key; its value says since when (microseconds since the epoch, in decimal);
/// null means that an operator has released it.
/// @par Thread safety  The loop's thread only.
class key_book final : public std::enable_shared_from_this<key_book> {
public:
    /// @param changed  There is news: called after something was read.
    key_book(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on, std::shared_ptr<control> asking,
             std::string topic, unique_function<void()> changed);

    error start();
    /// Ends the reading; what is known stays.
    void close();
    const std::string& topic() const noexcept { return topic_; }

    /// Whether all that was there at the beginning is read: before that nobody knows which keys are poisoned.
    bool known() const noexcept { return known_; }
    bool contains(std::string_view key) const { return keys_.find(key) != keys_.end(); }
    /// As was written and confirmed by this process.
    void add(const std::string& key, wall_time since) { keys_[key] = since; }
    /// Calls back once all is read that is in the topic now: a key may have been released a moment ago.
    void refresh(unique_function<void()> done);

    static std::string value_of(wall_time since);

private:
    void read();
    void take(const rd_kafka_message_t& record);
    void ask_end(unique_function<void(std::int64_t)> done);

    const std::shared_ptr<const kafka::config> settings_;
    const std::shared_ptr<loop> loop_;
    const std::shared_ptr<control> asking_;
    const std::string topic_;
    unique_function<void()> changed_;
    std::shared_ptr<handle> client_;
    owned_queue queue_;
    std::shared_ptr<loop::bell> bell_;
    std::map<std::string, wall_time, std::less<>> keys_;
    std::int64_t next_ = 0;  ///< Behind what is read.
    bool known_ = false;
    bool closed_ = false;
    std::deque<std::pair<std::int64_t, unique_function<void()>>> waiting_;
};

}  // namespace shove::kafka_backend
