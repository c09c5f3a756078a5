#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loop.hpp"
#include "owned.hpp"
#include "refusal.hpp"
#include "settings.hpp"

namespace shove::kafka_backend {

/// One client of librdkafka, and the queues of it that are served. No thread waits for a queue: when something comes
/// into an empty one, the loop is told.
///
/// Its end blocks (librdkafka joins its threads): the last owner must not be on the loop's thread.
/// @par Thread safety  Safe.
class handle {
public:
    /// Called on the loop's thread when the queue has something. Takes all there is: `rd_kafka_queue_poll` or
    /// `rd_kafka_consume_batch_queue` with a timeout of 0, until nothing comes. If it leaves something, it is not
    /// called again for that, unless it calls `wake` of the queue.
    using serve = unique_function<void(rd_kafka_queue_t*)>;

    /// @param settings  Checked. Its `get_token` is called by the client, on a thread of librdkafka's.
    /// @par Errors  `errc::invalid_argument`, `errc::internal` where the system gives no threads or sockets.
    static result<std::shared_ptr<handle>> make(std::shared_ptr<const kafka::config> settings, role what,
                                                const client_options& options, std::shared_ptr<loop> on);
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle();

    rd_kafka_t* get() const noexcept { return client_; }
    loop& on() const noexcept { return *on_; }

    /// Serves a queue of this client from now on, until `unwatch` or the end. What is in it already is served, too.
    /// Gives its number.
    std::size_t watch(owned_queue queue, serve with);
    /// The loop serves it as if something had come. From any thread.
    void wake(std::size_t number);
    /// No call of `serve` begins after this; one that runs is not waited for.
    void unwatch(std::size_t number);

private:
    struct watched;
    handle() = default;
    static void arrived(rd_kafka_t*, void* watched_queue);

    std::shared_ptr<const kafka::config> settings_;
    std::shared_ptr<loop> on_;
    rd_kafka_t* client_ = nullptr;
    std::mutex mutex_;
    std::vector<std::shared_ptr<watched>> watched_;
};

/// A token from `config::get_token` for a client that asks for one. On a thread of librdkafka's.
void refresh_token(rd_kafka_t* client, const kafka::config& settings);

}  // namespace shove::kafka_backend
