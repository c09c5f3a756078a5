// What librdkafka allows at best: an idempotent producer with up to WINDOW messages unconfirmed, or WINDOW at a time,
// and consumers of one group that read batches and commit twice a second, which is what the backend does.
// `shove-bench-raw-kafka MODE URL [MESSAGES=20000] [BODY-BYTES=100] [WINDOW=1000] [CONSUMERS=1] [PREFETCH=200]` prints
// one JSON line. MODE: publish, publish-batches, consume, e2e. The topic is new, has 8 partitions, and is removed.
#include "decode.hpp"
#include "kafka_client.hpp"
#include "process.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using shove::bench::now_ns;

struct plan {
    std::string mode;
    std::string brokers;
    std::uint64_t messages = 20'000;
    std::size_t body_bytes = 100;
    std::uint64_t window = 1'000;
    std::uint16_t consumers = 1;
    std::uint16_t prefetch = 200;
    std::string topic = "raw-bench-" + std::to_string(getpid()) + "-" + std::to_string(now_ns());
};

/// Publishes all of the plan's messages and counts what the broker confirms.
class publishing {
public:
    explicit publishing(const plan& what)
        : plan_(what),
          on_(shove::bench::make_kafka_client(RD_KAFKA_PRODUCER, what.brokers,
                                              {{"enable.idempotence", "true"}, {"acks", "all"}, {"linger.ms", "0"}})),
          reports_(rd_kafka_queue_get_main(on_.get())) {}

    void declare() { shove::bench::create_topic(on_.get(), plan_.topic, 8); }
    void remove() { shove::bench::delete_topic(on_.get(), plan_.topic); }
    void run() {
        while (confirmed_ < plan_.messages) {
            for (auto n = std::min(room(), plan_.messages - sent_); n > 0; --n)
                send();
            read();
        }
    }

private:
    /// How many may be sent now: what fits into the window, or the rest of a batch.
    std::uint64_t room() {
        if (plan_.mode != "publish-batches") return plan_.window - (sent_ - confirmed_);
        return confirmed_ == sent_ ? plan_.window : 0;
    }
    void send() {
        auto body = shove::bench::raw_json(sent_, now_ns(), plan_.body_bytes);
        const auto failed =
            rd_kafka_producev(on_.get(), RD_KAFKA_V_TOPIC(plan_.topic.c_str()),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(body.data(), body.size()),
                              RD_KAFKA_V_HEADER("Shove-Message-Id", "01234567-89ab-cdef-0123-456789abcdef", 36),
                              RD_KAFKA_V_HEADER("Shove-Retry-Count", "0", 1), RD_KAFKA_V_END);
        if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(failed));
        ++sent_;
    }
    void read() {
        auto* told = rd_kafka_queue_poll(reports_.get(), 1'000);
        if (told == nullptr) return;
        if (rd_kafka_event_type(told) == RD_KAFKA_EVENT_DR) {
            while (const auto* message = rd_kafka_event_message_next(told)) {
                if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
                    throw std::runtime_error(rd_kafka_err2str(message->err));
                ++confirmed_;
            }
        }
        rd_kafka_event_destroy(told);
    }

    const plan& plan_;
    shove::bench::kafka_client on_;
    shove::bench::kafka_queue reports_;
    std::uint64_t sent_ = 0;
    std::uint64_t confirmed_ = 0;
};

/// What all consumers have handled.
struct tally {
    std::uint64_t total;
    std::atomic<std::uint64_t> handled{0};
    std::atomic<std::uint64_t> at_last{0};

    void add(std::uint64_t more) {
        if (handled.fetch_add(more) + more == total) at_last = now_ns();
    }
};

class consuming {
public:
    consuming(const plan& what, tally& into)
        : plan_(what),
          into_(into),
          on_(shove::bench::make_kafka_client(RD_KAFKA_CONSUMER, what.brokers,
                                              {{"group.id", what.topic.c_str()},
                                               {"enable.auto.commit", "true"},
                                               {"enable.auto.offset.store", "true"},
                                               {"auto.commit.interval.ms", "500"},
                                               {"auto.offset.reset", "earliest"},
                                               {"partition.assignment.strategy", "cooperative-sticky"},
                                               {"fetch.wait.max.ms", "50"}})),
          queue_(nullptr) {
        rd_kafka_poll_set_consumer(on_.get());
        queue_.reset(rd_kafka_queue_get_consumer(on_.get()));
        auto* topics = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(topics, what.topic.c_str(), RD_KAFKA_PARTITION_UA);
        const auto failed = rd_kafka_subscribe(on_.get(), topics);
        rd_kafka_topic_partition_list_destroy(topics);
        if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(failed));
    }

    /// Until it has partitions.
    void attach() {
        for (bool owns = false; !owns && into_.at_last == 0;) {
            take(20);
            rd_kafka_topic_partition_list_t* mine = nullptr;
            if (rd_kafka_assignment(on_.get(), &mine) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
            owns = mine->cnt > 0;
            rd_kafka_topic_partition_list_destroy(mine);
        }
    }
    void run() {
        while (into_.at_last == 0)
            take(20);
        rd_kafka_consumer_close(on_.get());
    }

private:
    void take(int wait_ms) {
        messages_.resize(plan_.prefetch);
        const auto count = rd_kafka_consume_batch_queue(queue_.get(), wait_ms, messages_.data(), messages_.size());
        std::uint64_t handled = 0;
        for (ssize_t i = 0; i < count; ++i) {
            auto* message = messages_[static_cast<std::size_t>(i)];
            if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
                body_.assign(static_cast<const char*>(message->payload), message->len);
                shove::bench::decode(parser_, body_, sample_);
                if (sample_.body.size() != plan_.body_bytes) throw std::runtime_error("another body came");
                ++handled;
            }
            rd_kafka_message_destroy(message);
        }
        if (handled > 0) into_.add(handled);
    }

    const plan& plan_;
    tally& into_;
    shove::bench::kafka_client on_;
    shove::bench::kafka_queue queue_;
    std::vector<rd_kafka_message_t*> messages_;
    simdjson::ondemand::parser parser_;
    shove::bench::raw_sample sample_;
    std::string body_;
};

/// A thread for each consumer; they end with the last message.
class readers {
public:
    readers(const plan& what, tally& into) : attached_(what.consumers) {
        for (std::uint16_t i = 0; i < what.consumers; ++i)
            threads_.emplace_back([&] { run(what, into); });
    }
    void await_attached() { attached_.wait(); }
    void join() {
        threads_.clear();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void run(const plan& what, tally& into) {
        bool told = false;
        try {
            consuming mine(what, into);
            mine.attach();
            attached_.count_down();
            told = true;
            mine.run();
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

double cpu_seconds() {
    const auto used = shove::bench::process_cpu();
    return used.user + used.system;
}

void print(const plan& what, std::uint64_t from, std::uint64_t to, double cpu) {
    const auto elapsed = static_cast<double>(to - from) / 1e9;
    const auto messages = static_cast<double>(what.messages);
    std::printf(
        "{\"impl\":\"raw\",\"case\":\"kafka\",\"mode\":\"%s\",\"messages\":%llu,\"payload_bytes\":%zu,"
        "\"window\":%llu,\"consumers\":%u,\"prefetch\":%u,\"elapsed_s\":%.6f,\"msgs_per_s\":%.0f,"
        "\"cpu_us_per_msg\":%.3f,\"rss_peak_kib\":%llu}\n",
        what.mode.c_str(), static_cast<unsigned long long>(what.messages), what.body_bytes,
        static_cast<unsigned long long>(what.window), what.consumers, what.prefetch, elapsed, messages / elapsed,
        cpu * 1e6 / messages, static_cast<unsigned long long>(shove::bench::rss_peak_kib()));
}

void measure(const plan& what, publishing& from_here) {
    if (what.mode == "consume") from_here.run();
    tally found{what.messages};
    const auto cpu = cpu_seconds();
    auto from = now_ns();
    if (what.mode.starts_with("publish")) {
        from_here.run();
        return print(what, from, now_ns(), cpu_seconds() - cpu);
    }
    readers all(what, found);
    if (what.mode == "e2e") {
        all.await_attached();
        from = now_ns();
        from_here.run();
    }
    all.join();
    print(what, from, found.at_last, cpu_seconds() - cpu);
}

plan read_plan(int argc, char** argv) {
    const auto number = [&](int at, long long other) { return argc > at ? std::atoll(argv[at]) : other; };
    plan what;
    what.mode = argv[1];
    what.brokers = shove::bench::kafka_brokers(argv[2]);
    what.messages = static_cast<std::uint64_t>(std::max(number(3, 20'000), 1LL));
    what.body_bytes = static_cast<std::size_t>(number(4, 100));
    what.window = static_cast<std::uint64_t>(std::max(number(5, 1'000), 1LL));
    what.consumers = static_cast<std::uint16_t>(std::max(number(6, 1), 1LL));
    what.prefetch = static_cast<std::uint16_t>(std::max(number(7, 200), 1LL));
    return what;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::string_view modes[] = {"publish", "publish-batches", "consume", "e2e"};
    if (argc < 3 || std::ranges::find(modes, argv[1]) == std::end(modes)) {
        std::fprintf(stderr,
                     "usage: %s publish|publish-batches|consume|e2e URL [MESSAGES] [BODY-BYTES] [WINDOW] [CONSUMERS] "
                     "[PREFETCH]\n",
                     argv[0]);
        return EXIT_FAILURE;
    }
    try {
        const auto what = read_plan(argc, argv);
        publishing from_here(what);
        from_here.declare();
        measure(what, from_here);
        from_here.remove();
        return EXIT_SUCCESS;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return EXIT_FAILURE;
    }
}
