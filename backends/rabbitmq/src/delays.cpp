#include "delays.hpp"

#include <utility>

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::minutes trusted{1};
/// Beyond that, what is over its time is dropped from memory.
constexpr std::size_t many = 1'000;

}  // namespace

void delays::with(queue_layout what, steady_time deadline, found done) {
    std::shared_ptr<const route> way;
    {
        const std::lock_guard lock(mutex_);
        const auto at = known_.find(what.name);
        if (at != known_.end() && at->second.until > std::chrono::steady_clock::now()) way = at->second.way;
    }
    if (way) return done(std::move(way));
    // Two callbacks of one job, of which one is called.
    auto shared = std::make_shared<found>(std::move(done));
    control_job job;
    job.deadline = deadline;
    job.run = [this, what = std::move(what), shared](ask_channel& over) {
        declare(over, what);
        auto made = std::make_shared<const route>(route{.exchange = {}, .routing_key = what.name});
        store(what.name, made);
        (*shared)(std::move(made));
    };
    job.fail = [shared](const error& why) { (*shared)(why); };
    control_->post(std::move(job));
}

void delays::store(const std::string& name, std::shared_ptr<const route> way) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    if (known_.size() > many) std::erase_if(known_, [&](const auto& entry) { return entry.second.until < now; });
    known_[name] = {std::move(way), now + trusted};
}

std::vector<std::string> delays::waiting_for(std::string_view place, std::string_view queue) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, what] : known_) {
        if (is_waiting_for(name, place, queue)) names.push_back(name);
    }
    return names;
}

void delays::forget() {
    const std::lock_guard lock(mutex_);
    for (auto& [name, what] : known_)
        what.until = {};
}

}  // namespace shove::rabbitmq_backend
