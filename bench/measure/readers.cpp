#include "readers.hpp"

#include "topics.hpp"

#include <shove/async.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <span>

namespace shove::bench {
namespace {

namespace asio = boost::asio;

constexpr milliseconds drain_limit{30'000};

struct plain_handler {
    board* notes;

    outcome operator()(const sample& message) const {
        if (notes->begin(message)) notes->end(message.seq);
        return ack;
    }
};

/// Waits a time that depends on the message only, so that runs repeat exactly.
struct waiting_handler {
    board* notes;
    std::uint64_t shortest_us;
    std::uint64_t longest_us;

    asio::awaitable<outcome> operator()(sample message) const {
        if (!notes->begin(message)) co_return ack;
        const auto executor = co_await asio::this_coro::executor;
        asio::steady_timer timer(executor, wait_of(message.seq));
        co_await timer.async_wait(asio::use_awaitable);
        notes->end(message.seq);
        co_return ack;
    }

    std::chrono::microseconds wait_of(std::uint64_t seq) const noexcept {
        auto x = seq + 0x9e37'79b9'7f4a'7c15;
        x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
        x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
        x ^= x >> 31;
        return std::chrono::microseconds(shortest_us + x % (longest_us - shortest_us + 1));
    }
};

struct batch_handler {
    board* notes;

    outcome operator()(std::span<const sample> messages) const {
        notes->note(messages);
        return ack;
    }
};

consumer_options options_of(const plan& how) {
    consumer_options options;
    options.consumers = how.consumers;
    options.prefetch = how.held();
    return how.concurrent ? options : options.sequential();
}

template <class Topic>
void register_handler(consumer_group<any_backend>& with, const plan& how, board& notes) {
    const auto options = options_of(how);
    if constexpr (!Topic::topology.is_sequenced()) {
        if (how.per_call) {
            const batch_options batch{.max_messages = *how.per_call, .max_age = milliseconds(how.batch_age_ms)};
            with.add_batch<Topic>(batch_handler{&notes}, batch, options);
            return;
        }
    }
    switch (how.handler) {
        case work::zero:
            with.add<Topic>(plain_handler{&notes}, options);
            break;
        case work::fast:
            with.add<Topic>(waiting_handler{&notes, 1'000, 5'000}, options);
            break;
        case work::slow:
            with.add<Topic>(waiting_handler{&notes, 50'000, 300'000}, options);
            break;
    }
}

}  // namespace

readers::readers(const any_broker& of, const plan& how, board& notes) : notes_(notes), group_(of.consumer_group()) {
    with_topic(how, [&](auto topic) { register_handler<decltype(topic)>(group_, how, notes); });
}

readers::~readers() {
    if (runner_.joinable()) (void)stop();
}

void readers::start() {
    runner_ = std::thread([this] { run(); });
}

void readers::run() {
    try {
        const auto ended = group_.run_until(stopping_.get_token(), drain_limit);
        if (ended.timed_out) failures_.emplace_back("the drain did not end in time");
        failures_.insert(failures_.end(), ended.failures.begin(), ended.failures.end());
    } catch (const std::exception& e) {
        failures_.emplace_back(e.what());
    }
    notes_.finished().set();
}

std::vector<std::string> readers::stop() {
    stopping_.request_stop();
    if (runner_.joinable()) runner_.join();
    return failures_;
}

}  // namespace shove::bench
