#include "broker_core.hpp"

#include <algorithm>
#include <cstdio>

#include <shove/metrics.hpp>
#include "blocking.hpp"
#include "bounded.hpp"
#include "depth_sampler.hpp"
#include "group_core.hpp"

namespace shove::detail {
namespace {

unsigned worker_count(unsigned asked) {
    return asked ? asked : std::max(4u, 2 * std::thread::hardware_concurrency());
}

void log_to_stderr(log_level level, std::string_view text) {
    if (level < log_level::warning) return;
    const char* word = level == log_level::error ? "error" : "warning";
    std::fprintf(stderr, "shove: %s: %.*s\n", word, static_cast<int>(text.size()), text.data());
}

}  // namespace

broker_core::broker_core(std::shared_ptr<spi::driver> driver, broker_options options)
    : clock_(options.clock),
      driver_(std::move(driver)),
      options_(std::move(options)),
      board_(options_.metrics ? options_.metrics->board() : nullptr),
      meters_(board_ ? board_->broker(driver_->capabilities().backend) : nullptr),
      random_(std::random_device{}()),
      workers_(worker_count(options_.worker_threads)) {
    if (!options_.log && !options_.on_event) options_.log = log_to_stderr;
}

broker_core::~broker_core() {
    shutdown(milliseconds(1'000));
}

boost::asio::any_io_executor broker_core::executor() {
    if (options_.executor.given()) return *options_.executor.given();
    std::lock_guard lock(mutex_);
    if (!pool_) pool_ = std::make_unique<boost::asio::thread_pool>(std::max(1u, std::thread::hardware_concurrency()));
    return pool_->get_executor();
}

void broker_core::tell(happening what, std::string_view text, std::span<const event_field> fields) const {
    const auto& info = info_of(what);
    if (options_.log) options_.log(info.level, text);
    if (options_.on_event) options_.on_event({info, text, fields});
}

std::uint64_t broker_core::random() {
    std::lock_guard lock(mutex_);
    return random_();
}

void broker_core::spawn_waiter(unique_function<void()> wait) {
    std::lock_guard lock(mutex_);
    waiters_.emplace_back([wait = std::move(wait)]() mutable { wait(); });
}

void broker_core::enter(const std::shared_ptr<group_core>& group) {
    std::lock_guard lock(mutex_);
    std::erase_if(groups_, [](const auto& g) { return g.expired(); });
    groups_.push_back(group);
    if (sampler_ || !board_ || options_.depth_samples.count() <= 0) return;
    sampler_ = std::make_shared<depth_sampler>(weak_from_this(), *clock_, options_.depth_samples);
    sampler_->start();
}

void broker_core::leave(const group_core* group) {
    std::lock_guard lock(mutex_);
    std::erase_if(groups_, [&](const auto& weak) {
        const auto g = weak.lock();
        return !g || g.get() == group;
    });
}

std::vector<std::shared_ptr<group_core>> broker_core::groups() {
    std::vector<std::shared_ptr<group_core>> running;
    std::lock_guard lock(mutex_);
    for (const auto& weak : groups_) {
        if (auto g = weak.lock()) running.push_back(std::move(g));
    }
    return running;
}

error broker_core::close(milliseconds deadline) {
    const auto until = clock_->now() + deadline;
    const auto running = groups();
    for (const auto& g : running)
        g->begin_drain();
    for (const auto& g : running) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - clock_->now());
        (void)g->stop(std::max(left, milliseconds(0)));
    }
    if (closed_.exchange(true, std::memory_order_acq_rel)) return {};
    return wait_for<error>([&](auto done) {
        bounded(*clock_, until, "close: no answer within " + std::to_string(deadline.count()) + " ms", std::move(done),
                [&](auto finish) { driver_->close(until, std::move(finish)); });
    });
}

void broker_core::shutdown(milliseconds deadline) {
    (void)close(deadline);
    std::shared_ptr<depth_sampler> sampler;
    {
        std::lock_guard lock(mutex_);
        sampler = sampler_;
    }
    if (sampler) sampler->stop();
    supervising_.join();
    workers_.join();
    std::vector<std::jthread> waiters;
    std::unique_ptr<boost::asio::thread_pool> pool;
    {
        std::lock_guard lock(mutex_);
        waiters.swap(waiters_);
        pool.swap(pool_);
    }
    waiters.clear();
    if (!pool) return;
    pool->stop();
    pool->join();
}

}  // namespace shove::detail
