// A handler that waits without holding a thread: 100 calls of 50 ms each, all at once, on one thread or two.
#include <shove/async.hpp>
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <latch>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct ping {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(ping, (), (number))

struct pings : shove::topic<ping> {
    static constexpr auto topology = shove::topology("pings");
};

// Coroutines take their parameters by value: the frame outlives the caller's temporaries. A handler with state is
// a struct with a coroutine as its call operator, not a lambda with captures.
struct slow_answer {
    std::latch* handled;

    asio::awaitable<shove::outcome> operator()(ping) const {
        const auto executor = co_await asio::this_coro::executor;
        asio::steady_timer timer(executor, 50ms);        // named, not a temporary inside co_await
        co_await timer.async_wait(asio::use_awaitable);  // a timeout or a drain cancels here
        handled->count_down();
        co_return shove::ack;
    }
};

}  // namespace

int main() {
    constexpr int calls = 100;
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<pings>();
    const auto publisher = broker.publisher();
    for (int i = 0; i < calls; ++i)
        publisher.publish<pings>({i});

    std::latch handled(calls);
    shove::consumer_options options;
    options.prefetch = calls;  // so many calls at once
    auto group = broker.consumer_group();
    group.add<pings>(slow_answer{&handled}, options);

    const auto from = std::chrono::steady_clock::now();
    group.start();
    handled.wait();
    const auto took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from);
    std::printf("%d calls of 50 ms each took %.0f ms together\n", calls, took.count());
    return group.stop(5s).exit_code();
}
