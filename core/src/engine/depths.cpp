#include "depths.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

namespace shove::detail {
namespace {

struct gathering {
    std::mutex mutex;
    std::size_t missing = 0;
    spi::queue_depth sum;
    std::optional<error> failure;
    std::function<void(result<spi::queue_depth>)> done;

    void add(const spi::queue_depth& one) {
        sum.ready += one.ready;
        sum.in_flight += one.in_flight;
        sum.delayed += one.delayed;
        if (one.oldest_age) sum.oldest_age = std::max(sum.oldest_age.value_or(milliseconds(0)), *one.oldest_age);
    }
};

}  // namespace

void add_up_depths(spi::driver& driver, const std::vector<std::string>& queues,
                   std::function<void(result<spi::queue_depth>)> done) {
    if (queues.empty()) return done(spi::queue_depth());
    auto all = std::make_shared<gathering>();
    all->missing = queues.size();
    all->done = std::move(done);
    for (const auto& queue : queues) {
        driver.depth(queue, [all](result<spi::queue_depth> depth) {
            {
                const std::lock_guard lock(all->mutex);
                if (depth) all->add(*depth);
                if (!depth && !all->failure) all->failure = depth.error();
                if (--all->missing > 0) return;
            }
            if (all->failure) return all->done(*all->failure);
            all->done(all->sum);
        });
    }
}

}  // namespace shove::detail
