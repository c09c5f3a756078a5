#include "sequenced_publish.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "broker_core.hpp"

namespace shove::detail {
namespace {

/// The messages of a batch that go to one shard.
struct shard_part {
    std::uint16_t shard = 0;
    std::vector<std::size_t> which;           ///< Indices into `prepared_batch::messages`, in order.
    std::vector<publish_order::key_id> keys;  ///< Distinct.
};

std::vector<shard_part> split(const prepared_batch& batch) {
    const auto& sequencing = *batch.topology->sequencing;
    std::vector<shard_part> parts;
    for (std::size_t i = 0; i < batch.messages.size(); ++i) {
        const auto key = batch.messages[i].msg.key().value_or("");
        const auto shard = sequencing.shard_of(key);
        auto part = std::ranges::find(parts, shard, &shard_part::shard);
        if (part == parts.end()) part = parts.insert(parts.end(), {shard, {}, {}});
        part->which.push_back(i);
        part->keys.push_back(publish_order::id_of(sequencing.shard_queues[shard], key));
    }
    for (auto& part : parts) {
        std::ranges::sort(part.keys);
        const auto rest = std::ranges::unique(part.keys);
        part.keys.erase(rest.begin(), rest.end());
    }
    return parts;
}

/// A batch under way: completed once, by its last part's answer or by the timeout.
class sequenced_batch : public std::enable_shared_from_this<sequenced_batch> {
public:
    sequenced_batch(std::shared_ptr<broker_core> core, prepared_batch batch, unique_function<void(prepared_batch)> done)
        : core_(std::move(core)), batch_(std::move(batch)), done_(std::move(done)) {}

    void start() {
        auto parts = split(batch_);
        left_ = parts.size();
        timeout_at_ = core_->clock().now() + batch_.timeout;
        for (const auto place : batch_.places) {
            batch_.states[place].status = publish_status::not_attempted;
            batch_.states[place].cause = error(
                errc::not_attempted, "an earlier message of its key was under way until the timeout; publish it again");
        }
        {
            const std::lock_guard lock(mutex_);
            timer_ = core_->clock().call_at(timeout_at_, [weak = weak_from_this()] {
                if (auto self = weak.lock()) self->time_out();
            });
        }
        for (auto& part : parts) {
            auto keys = part.keys;
            core_->order().enter(
                keys, [self = shared_from_this(), part = std::move(part)]() mutable { self->send(std::move(part)); });
        }
    }

private:
    void send(shard_part part) {
        spi::publish_request request;
        std::shared_ptr<const queue_topology> topology;
        {
            const std::lock_guard lock(mutex_);
            if (done_) {
                topology = batch_.topology;
                request.deadline = batch_.when_full == when_full::fail ? steady_time::min() : timeout_at_;
                request.shard = part.shard;
                for (const auto i : part.which) {
                    request.messages.push_back(batch_.messages[i]);
                    auto& state = batch_.states[batch_.places[i]];
                    state.status = publish_status::unknown;
                    state.cause = error(errc::timed_out, "publishing to '" + topology->queue + "': no answer within " +
                                                             std::to_string(batch_.timeout.count()) + " ms");
                }
            }
        }
        if (!topology) return core_->order().leave(part.keys);  // timed out while it was held back
        core_->driver().publish(*topology, std::move(request),
                                [self = shared_from_this(), part = std::move(part)](spi::publish_report report) {
                                    self->answered(part, std::move(report));
                                });
    }

    void answered(const shard_part& part, spi::publish_report report) {
        unique_function<void(prepared_batch)> complete;
        {
            const std::lock_guard lock(mutex_);
            if (done_) {
                for (std::size_t i = 0; i < part.which.size(); ++i) {
                    auto& state = batch_.states[batch_.places[part.which[i]]];
                    state.status = report.each.empty() ? publish_status::ok : report.each[i].status;
                    state.cause = report.each.empty() ? error() : std::move(report.each[i].cause);
                }
                if (--left_ == 0) complete = std::exchange(done_, nullptr);
            }
        }
        core_->order().leave(part.keys);
        if (!complete) return;
        core_->clock().cancel(timer_);
        complete(std::move(batch_));
    }

    void time_out() {
        unique_function<void(prepared_batch)> complete;
        {
            const std::lock_guard lock(mutex_);
            complete = std::exchange(done_, nullptr);
        }
        if (complete) complete(std::move(batch_));
    }

    const std::shared_ptr<broker_core> core_;
    std::mutex mutex_;
    prepared_batch batch_;
    unique_function<void(prepared_batch)> done_;
    std::size_t left_ = 0;
    steady_time timeout_at_{};
    clock::timer_id timer_ = 0;
};

}  // namespace

void publish_sequenced(const std::shared_ptr<broker_core>& core, prepared_batch batch,
                       unique_function<void(prepared_batch)> done) {
    std::make_shared<sequenced_batch>(core, std::move(batch), std::move(done))->start();
}

}  // namespace shove::detail
