#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace shove::bench {

enum class mode : std::uint8_t {
    publish,    ///< First publish call to the last confirmation.
    consume,    ///< The corpus is published first; from the start of the group to the end of the last handler.
    e2e,        ///< Consumers attached and proven by a probe; first publish to the end of the last handler.
    sequenced,  ///< As `consume`, on a sequenced topic; the order of each key is checked.
};

enum class work : std::uint8_t {
    zero,  ///< A plain function that returns at once.
    fast,  ///< A coroutine that waits 1 to 5 ms.
    slow,  ///< A coroutine that waits 50 to 300 ms.
};

/// What one run measures.
struct plan {
    std::string url;
    bench::mode mode = mode::consume;
    std::uint64_t messages = 100'000;
    std::size_t payload_bytes = 100;
    std::uint32_t consumers = 1;
    std::size_t prefetch = 20;
    bool concurrent = false;
    bench::work handler = work::zero;
    std::optional<std::size_t> per_call;   ///< Messages of a batch that a handler is given; nothing: one at a time.
    std::uint32_t batch_age_ms = 250;      ///< How long a batch may wait to be full.
    std::optional<std::size_t> pub_batch;  ///< Nothing: 1 where publishing is measured, else 500.
    std::uint32_t publishers = 1;
    bool async = false;                     ///< Publishers are coroutines of one thread, not threads.
    std::uint16_t shards = 8;               ///< Of a sequenced topic.
    std::uint64_t keys = 64;                ///< Of a sequenced topic: message `seq` has key `seq % keys`.
    std::optional<double> rate;             ///< Messages a second, of all publishers together.
    std::optional<std::uint64_t> capacity;  ///< Of an in-process queue; nothing: all messages and 1,024 more.
    bool metrics = false;                   ///< With a `shove::metrics`, which nobody reads.
    unsigned threads = 0;                   ///< Worker threads; 0: the broker's default.
    std::uint32_t timeout_s = 300;
    std::optional<std::string> label;

    bool publishing_is_measured() const noexcept { return mode == mode::publish || mode == mode::e2e; }
    std::size_t batch() const noexcept { return pub_batch.value_or(publishing_is_measured() ? 1 : 500); }
    /// Messages that a consumer holds: room for a batch that is handled and one that fills.
    std::size_t held() const noexcept { return per_call ? std::max(prefetch, 2 * *per_call) : prefetch; }
    std::uint64_t room() const noexcept { return capacity.value_or(messages + 1024); }
};

}  // namespace shove::bench
