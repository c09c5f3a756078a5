// The least that consuming in one process can cost: threads that pop batches from a locked queue, decode
// with simdjson and call a function. `shove-bench-raw-inprocess [THREADS=1] [MESSAGES=1000000]` prints one JSON line.
#include "decode.hpp"
#include "process.hpp"

#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using shove::bench::raw_sample;

/// A queue that hands out batches.
class backlog {
public:
    explicit backlog(std::uint64_t messages) {
        items_.reserve(messages);
        for (std::uint64_t i = 0; i < messages; ++i)
            items_.push_back(shove::bench::raw_json(i, shove::bench::now_ns(), 100));
    }
    /// Moves at most `max` messages out.
    void pop(std::vector<std::string>& into, std::size_t max) {
        into.clear();
        const std::lock_guard lock(mutex_);
        for (; into.size() < max && next_ < items_.size(); ++next_)
            into.push_back(std::move(items_[next_]));
    }

private:
    std::mutex mutex_;
    std::size_t next_ = 0;
    std::vector<std::string> items_;
};

void consume(backlog& from, std::atomic<std::uint64_t>& handled) {
    simdjson::ondemand::parser parser;
    raw_sample message;
    std::vector<std::string> batch;
    for (from.pop(batch, 200); !batch.empty(); from.pop(batch, 200)) {
        for (auto& bytes : batch) {
            shove::bench::decode(parser, bytes, message);
            if (message.body.size() == 100) handled.fetch_add(1, std::memory_order_relaxed);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto threads = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 1);
    const auto messages = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1'000'000);
    backlog queue(messages);
    std::atomic<std::uint64_t> handled{0};
    const auto from = shove::bench::now_ns();
    {
        std::vector<std::jthread> workers;
        for (std::size_t i = 0; i < threads; ++i)
            workers.emplace_back([&] { consume(queue, handled); });
    }
    const auto elapsed = static_cast<double>(shove::bench::now_ns() - from) / 1e9;
    std::printf("{\"impl\":\"raw\",\"case\":\"inprocess\",\"threads\":%zu,\"handled\":%llu,\"msgs_per_s\":%.0f}\n",
                threads, static_cast<unsigned long long>(handled.load()), static_cast<double>(messages) / elapsed);
    return handled.load() == messages ? EXIT_SUCCESS : EXIT_FAILURE;
}
