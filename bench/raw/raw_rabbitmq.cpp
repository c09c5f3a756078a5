// What rabbitmq-c allows at best: publishing with up to WINDOW messages unconfirmed, or WINDOW at a time, and consuming
// with one `basic.ack multiple` for each quarter of the prefetch, 64 messages at most, which is what the backend does.
// `shove-bench-raw-rabbitmq MODE URL [MESSAGES=20000] [BODY-BYTES=100] [WINDOW=1000] [CONSUMERS=1] [PREFETCH=200]
// [CONNECTIONS=1]` prints one JSON line. MODE: publish, publish-batches, consume, e2e. The queue is new, and removed.
#include "amqp_client.hpp"
#include "decode.hpp"
#include "process.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <latch>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using shove::bench::amqp_client;
using shove::bench::now_ns;

struct plan {
    std::string mode;
    std::string url;
    std::uint64_t messages = 20'000;
    std::size_t body_bytes = 100;
    std::uint64_t window = 1'000;
    std::uint16_t consumers = 1;
    std::uint16_t prefetch = 200;
    std::uint16_t connections = 1;
    std::string queue = "raw-bench-" + std::to_string(getpid()) + "-" + std::to_string(now_ns());
};

/// Publishes all of the plan's messages and counts what the server confirms.
class publishing {
public:
    publishing(amqp_client& on, const plan& what) : on_(on), plan_(what), done_(what.messages + 1) {}

    void run() {
        on_.confirm();
        while (confirmed_ < plan_.messages) {
            send();
            read(sent_ == plan_.messages || room() == 0);
        }
    }

private:
    static constexpr std::uint64_t burst = 256;

    /// How many may be sent now: what fits into the window, or the rest of a batch.
    std::uint64_t room() {
        if (plan_.mode != "publish-batches") return plan_.window - (sent_ - confirmed_);
        if (confirmed_ == sent_) batch_end_ = sent_ + plan_.window;
        return batch_end_ - sent_;
    }
    void send() {
        const auto until = sent_ + std::min({room(), plan_.messages - sent_, burst});
        const bool several = until > sent_ + 1;
        if (several) on_.cork(true);
        for (; sent_ < until; ++sent_)
            on_.publish(plan_.queue, shove::bench::raw_json(sent_, now_ns(), plan_.body_bytes));
        if (several) on_.cork(false);
    }
    void read(bool wait) {
        amqp_frame_t frame{};
        while (on_.next(frame, wait ? 500 : 0)) {
            if (frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == AMQP_BASIC_ACK_METHOD) {
                const auto& told = *static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
                confirm(told.delivery_tag, told.multiple != 0);
                wait = false;
            }
            on_.forget_frames(1);
            if (!on_.has_input()) break;
        }
    }
    void confirm(std::uint64_t tag, bool multiple) {
        for (auto i = multiple ? first_ : tag; i <= tag; ++i) {
            if (!done_[i]) ++confirmed_;
            done_[i] = true;
        }
        if (multiple) first_ = tag + 1;
    }

    amqp_client& on_;
    const plan& plan_;
    std::vector<bool> done_;  // by tag: confirmed
    std::uint64_t sent_ = 0;
    std::uint64_t confirmed_ = 0;
    std::uint64_t first_ = 1;
    std::uint64_t batch_end_ = 0;
};

/// What all consumers have handled.
struct tally {
    std::uint64_t total;
    std::atomic<std::uint64_t> handled{0};
    std::atomic<std::uint64_t> at_last{0};

    void add() {
        if (handled.fetch_add(1) + 1 == total) at_last = now_ns();
    }
};

/// Consumers on one connection, each on a channel of its own.
class consuming {
public:
    consuming(const plan& what, std::uint16_t channels, tally& into)
        : plan_(what), on_(what.url, channels), into_(into), channels_(channels) {
        for (std::uint16_t i = 0; i < channels; ++i)
            on_.consume(static_cast<std::uint16_t>(i + 1), what.queue, what.prefetch);
    }

    void run() {
        amqp_frame_t frame{};
        while (into_.at_last == 0) {
            if (on_.next(frame, 20)) take(frame);
        }
        for (std::size_t i = 0; i < channels_.size(); ++i)
            acknowledge(static_cast<std::uint16_t>(i + 1));
    }

private:
    struct channel {
        std::uint64_t tag = 0;
        std::uint64_t unacked = 0;
        std::size_t size = 0;
        std::string body;
    };

    void take(const amqp_frame_t& frame) {
        if (frame.channel == 0) return;
        auto& to = channels_[frame.channel - 1U];
        if (frame.frame_type == AMQP_FRAME_HEADER) {
            to.size = static_cast<std::size_t>(frame.payload.properties.body_size);
            to.body.clear();
        } else if (frame.frame_type == AMQP_FRAME_BODY) {
            const auto& piece = frame.payload.body_fragment;
            to.body.append(static_cast<const char*>(piece.bytes), piece.len);
            if (to.body.size() >= to.size) handle(to, frame.channel);
        } else if (frame.payload.method.id == AMQP_BASIC_DELIVER_METHOD) {
            to.tag = static_cast<const amqp_basic_deliver_t*>(frame.payload.method.decoded)->delivery_tag;
        }
    }
    void handle(channel& from, std::uint16_t number) {
        shove::bench::decode(parser_, from.body, message_);
        if (message_.body.size() != plan_.body_bytes) throw std::runtime_error("another body came");
        into_.add();
        const auto each = std::clamp<std::uint64_t>(plan_.prefetch / 4U, 1, 64);
        if (++from.unacked >= each) acknowledge(number);
        on_.forget_frames(number);
    }
    void acknowledge(std::uint16_t number) {
        auto& what = channels_[number - 1U];
        if (what.unacked > 0) on_.ack_up_to(number, what.tag);
        what.unacked = 0;
    }

    const plan& plan_;
    amqp_client on_;
    tally& into_;
    std::vector<channel> channels_;
    simdjson::ondemand::parser parser_;
    shove::bench::raw_sample message_;
};

/// A thread for each connection; they end with the last message.
class readers {
public:
    readers(const plan& what, tally& into) : attached_(what.connections) {
        for (std::uint16_t i = 0; i < what.connections; ++i) {
            const auto rest = what.consumers % what.connections > i ? 1 : 0;
            const auto channels = static_cast<std::uint16_t>(what.consumers / what.connections + rest);
            threads_.emplace_back([&, channels] { run(what, channels, into); });
        }
    }
    void await_attached() { attached_.wait(); }
    void join() {
        threads_.clear();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void run(const plan& what, std::uint16_t channels, tally& into) {
        bool told = false;
        try {
            consuming those(what, channels, into);
            attached_.count_down();
            told = true;
            those.run();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            into.at_last = now_ns();
            if (!told) attached_.count_down();
        }
    }

    std::latch attached_;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::vector<std::jthread> threads_;
};

void print(const plan& what, std::uint64_t from, std::uint64_t to, double cpu) {
    const auto elapsed = static_cast<double>(to - from) / 1e9;
    const auto messages = static_cast<double>(what.messages);
    std::printf(
        "{\"impl\":\"raw\",\"case\":\"rabbitmq\",\"mode\":\"%s\",\"messages\":%llu,\"payload_bytes\":%zu,"
        "\"window\":%llu,\"consumers\":%u,\"prefetch\":%u,\"connections\":%u,\"elapsed_s\":%.6f,\"msgs_per_s\":%.0f,"
        "\"cpu_us_per_msg\":%.3f,\"rss_peak_kib\":%llu}\n",
        what.mode.c_str(), static_cast<unsigned long long>(what.messages), what.body_bytes,
        static_cast<unsigned long long>(what.window), what.consumers, what.prefetch, what.connections, elapsed,
        messages / elapsed, cpu * 1e6 / messages, static_cast<unsigned long long>(shove::bench::rss_peak_kib()));
}

double cpu_seconds() {
    const auto used = shove::bench::process_cpu();
    return used.user + used.system;
}

void measure(const plan& what, amqp_client& on) {
    if (what.mode == "consume") publishing(on, what).run();
    tally found{what.messages};
    const auto cpu = cpu_seconds();
    auto from = now_ns();
    if (what.mode.starts_with("publish")) {
        publishing(on, what).run();
        return print(what, from, now_ns(), cpu_seconds() - cpu);
    }
    readers all(what, found);
    if (what.mode == "e2e") {
        all.await_attached();
        from = now_ns();
        publishing(on, what).run();
    }
    all.join();
    print(what, from, found.at_last, cpu_seconds() - cpu);
}

plan read_plan(int argc, char** argv) {
    const auto number = [&](int at, long long other) { return argc > at ? std::atoll(argv[at]) : other; };
    plan what;
    what.mode = argv[1];
    what.url = argv[2];
    what.messages = static_cast<std::uint64_t>(std::max(number(3, 20'000), 1LL));
    what.body_bytes = static_cast<std::size_t>(number(4, 100));
    what.window = static_cast<std::uint64_t>(std::max(number(5, 1'000), 1LL));
    what.consumers = static_cast<std::uint16_t>(std::max(number(6, 1), 1LL));
    what.prefetch = static_cast<std::uint16_t>(std::max(number(7, 200), 1LL));
    what.connections = static_cast<std::uint16_t>(std::clamp(number(8, 1), 1LL, number(6, 1)));
    return what;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::string_view modes[] = {"publish", "publish-batches", "consume", "e2e"};
    if (argc < 3 || std::ranges::find(modes, argv[1]) == std::end(modes)) {
        std::fprintf(
            stderr,
            "usage: %s publish|publish-batches|consume|e2e URL [MESSAGES] [BODY-BYTES] [WINDOW] [CONSUMERS] [PREFETCH] "
            "[CONNECTIONS]\n",
            argv[0]);
        return EXIT_FAILURE;
    }
    try {
        const auto what = read_plan(argc, argv);
        amqp_client on(what.url);
        on.declare(what.queue);
        measure(what, on);
        on.remove(what.queue);
        return EXIT_SUCCESS;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return EXIT_FAILURE;
    }
}
