#include "publishing.hpp"

#include "pacer.hpp"
#include "process.hpp"
#include "topics.hpp"

#include <shove/async.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <deque>
#include <exception>
#include <span>
#include <thread>
#include <vector>

namespace shove::bench {
namespace {

/// One publisher: every `publishers`-th message, or every message of every `publishers`-th key.
template <class Topic>
class lane {
public:
    lane(const any_broker& to, const plan& what, std::uint32_t number)
        : publisher_(to.publisher()), plan_(what), number_(number), chunk_(what.batch()) {
        for (auto& m : chunk_)
            m.body.assign(what.payload_bytes, 'x');
    }

    boost::asio::awaitable<void> run_async() {
        std::size_t filled = 0;
        for (auto seq = first(); seq < plan_.messages; seq = next(seq)) {
            fill(chunk_[filled], seq);
            if (++filled < chunk_.size()) continue;
            co_await send_async(filled);
            filled = 0;
        }
        if (filled > 0) co_await send_async(filled);
    }

    void run() {
        const auto rate = plan_.rate ? std::optional(*plan_.rate / plan_.publishers) : std::nullopt;
        const pacer pace(rate);
        std::uint64_t sent = 0;
        std::size_t filled = 0;
        for (auto seq = first(); seq < plan_.messages; seq = next(seq)) {
            pace.wait_for(sent++);
            fill(chunk_[filled], seq);
            if (++filled < chunk_.size()) continue;
            send(filled);
            filled = 0;
        }
        if (filled > 0) send(filled);
    }

private:
    std::uint64_t first() const noexcept {
        const bool keyless = plan_.mode == mode::sequenced && number_ >= plan_.keys;
        return keyless ? plan_.messages : number_;
    }
    std::uint64_t next(std::uint64_t seq) const noexcept {
        if (plan_.mode != mode::sequenced) return seq + plan_.publishers;
        while (++seq < plan_.messages && seq % plan_.keys % plan_.publishers != number_) {
        }
        return seq;
    }
    static void fill(sample& into, std::uint64_t seq) {
        into.seq = seq;
        into.id = "m-";
        into.id += std::to_string(seq);
        into.sent_ns = now_ns();
    }
    boost::asio::awaitable<void> send_async(std::size_t count) const {
        if (chunk_.size() == 1) {
            co_await publisher_.template async_publish<Topic>(chunk_[0], options_, boost::asio::use_awaitable);
            co_return;
        }
        const auto some = std::span(chunk_).first(count);
        co_await publisher_.template async_publish_batch<Topic>(some, options_, boost::asio::use_awaitable);
    }
    void send(std::size_t count) const {
        if (chunk_.size() == 1) {
            publisher_.publish<Topic>(chunk_[0]);
            return;
        }
        const auto report = publisher_.publish_batch<Topic>(std::span(chunk_).first(count));
        if (const auto cause = report.first_error()) throw exception(cause);
    }

    publisher<any_backend> publisher_;
    const plan& plan_;
    std::uint32_t number_;
    std::vector<sample> chunk_;
    publish_options options_;
};

template <class Topic>
void run_async(const any_broker& to, const plan& what) {
    std::deque<lane<Topic>> lanes;
    std::exception_ptr failure;
    boost::asio::io_context here(1);
    for (std::uint32_t i = 0; i < what.publishers; ++i) {
        auto& one = lanes.emplace_back(to, what, i);
        boost::asio::co_spawn(here, one.run_async(), [&](const std::exception_ptr& e) {
            if (e) failure = e;
        });
    }
    here.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

void publish_corpus(const any_broker& to, const plan& what) {
    if (what.async) return with_topic(what, [&](auto topic) { run_async<decltype(topic)>(to, what); });
    std::vector<std::exception_ptr> failures(what.publishers);
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t i = 0; i < what.publishers; ++i) {
            threads.emplace_back([&, i] {
                try {
                    with_topic(what, [&](auto topic) { lane<decltype(topic)>(to, what, i).run(); });
                } catch (...) {
                    failures[i] = std::current_exception();
                }
            });
        }
    }
    for (const auto& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

void publish_probe(const any_broker& to) {
    sample probe;
    probe.id = "probe";
    probe.seq = probe_seq;
    to.publisher().publish<samples>(probe);
}

}  // namespace shove::bench
