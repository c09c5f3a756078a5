#include "publish_batch.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "answer_time.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// The time to find out where a message goes, where its publisher does not wait for room.
constexpr std::chrono::seconds least_patience{5};

/// Until when to find that out: nothing is sent before, and the publisher is to hear so.
steady_time way_deadline(steady_time deadline) {
    const auto now = std::chrono::steady_clock::now();
    return deadline > now ? answered_by(deadline) : now + least_patience;
}

std::shared_ptr<const route> to_shard(const route& way, std::uint16_t shard) {
    auto made = std::make_shared<route>(way);
    made->by_key = false;
    made->routing_key = std::to_string(shard);
    return made;
}

}  // namespace

publish_batch::publish_batch(shared_parts shared, std::shared_ptr<topologies> known, const queue_topology& topology,
                             spi::publish_request request, spi::callback<void(spi::publish_report)> done)
    : shared_(std::move(shared)),
      known_(std::move(known)),
      topology_(topology),
      request_(std::move(request)),
      left_(request_.messages.size()),
      done_(std::move(done)) {}

void publish_batch::start() {
    if (left_ == 0) return done_({});
    indices now;
    std::map<milliseconds, indices> later;
    split(now, later);
    if (!now.empty()) send_now(std::move(now));
    for (auto& [delay, which] : later)
        send_later(delay, std::move(which), false);
}

void publish_batch::split(indices& now, std::map<milliseconds, indices>& later) const {
    for (std::size_t i = 0; i < request_.messages.size(); ++i) {
        const auto delay = request_.messages[i].delay;
        if (delay.count() > 0) {
            later[rounded_delay(delay)].push_back(i);
        } else {
            now.push_back(i);
        }
    }
}

void publish_batch::send_now(indices which) {
    const auto deadline = way_deadline(request_.deadline);
    known_->way_to(
        topology_, deadline,
        [self = shared_from_this(), which = std::move(which)](result<std::shared_ptr<const route>> way) mutable {
            if (!way) return self->refuse(which, way.error());
            self->ship(std::move(which), *way, milliseconds(0), false);
        });
}

void publish_batch::send_later(milliseconds delay, indices which, bool again) {
    const auto deadline = way_deadline(request_.deadline);
    auto into = [self = shared_from_this(), delay, which = std::move(which), deadline,
                 again](result<std::shared_ptr<const route>> known) mutable {
        if (!known) return self->refuse(which, known.error());
        auto queue = later_queue(self->topology_, delay, self->shared_.settings->queues);
        if ((*known)->exchange.empty()) queue.dead_letter_exchange.clear();  // made by another library
        self->shared_.waiting->with(
            std::move(queue), deadline,
            [self, delay, which = std::move(which), again](result<std::shared_ptr<const route>> way) mutable {
                if (!way) return self->refuse(which, way.error());
                self->ship(std::move(which), *way, delay, again);
            });
    };
    // What is not there when the time has come would be lost: the topic's own place is looked for first.
    known_->way_to(topology_, deadline, std::move(into));
}

void publish_batch::ship(indices which, const std::shared_ptr<const route>& way, milliseconds delay, bool again) {
    shipment made;
    made.deadline = answered_by(request_.deadline);
    made.parcels.reserve(which.size());
    const auto to = way->by_shard && request_.shard ? to_shard(*way, *request_.shard) : way;
    for (const auto i : which)
        made.parcels.push_back({.msg = request_.messages[i].msg, .to = to});
    made.done = [self = shared_from_this(), which = std::move(which), delay,
                 again](std::vector<spi::publish_result> results) mutable {
        const auto lost = std::ranges::any_of(results, [](const auto& r) { return r.cause == errc::unroutable; });
        if (lost && delay.count() > 0 && !again) {
            // The delay queue is gone: somebody deleted it. Once more, with a new one; what was stored stays.
            self->shared_.waiting->forget();
            indices rest;
            indices settled;
            std::vector<spi::publish_result> known;
            for (std::size_t i = 0; i < which.size(); ++i) {
                const bool unroutable = results[i].cause == errc::unroutable;
                (unroutable ? rest : settled).push_back(which[i]);
                if (!unroutable) known.push_back(std::move(results[i]));
            }
            self->send_later(delay, std::move(rest), true);
            return self->answered(settled, std::move(known));
        }
        // An exchange that was deleted ends the channel, and what was sent over it has an unknown fate.
        const auto unclear =
            std::ranges::any_of(results, [](const auto& r) { return r.status == spi::publish_status::unknown; });
        if (lost || unclear) self->known_->forget_way(self->topology_);
        self->answered(which, std::move(results));
    };
    shared_.publishing->post(std::move(made));
}

void publish_batch::refuse(const indices& which, const error& why) {
    std::vector<spi::publish_result> results(which.size(),
                                             {spi::publish_status::not_attempted, error(errc::not_attempted)});
    results.front() = {spi::publish_status::failed, why};
    answered(which, std::move(results));
}

void publish_batch::answered(const indices& which, std::vector<spi::publish_result> results) {
    if (which.empty()) return;
    spi::callback<void(spi::publish_report)> done;
    spi::publish_report report;
    {
        const std::lock_guard lock(mutex_);
        if (!results.empty()) results_.resize(request_.messages.size());
        for (std::size_t i = 0; i < results.size(); ++i)
            results_[which[i]] = std::move(results[i]);
        left_ -= which.size();
        if (left_ > 0) return;
        done = std::exchange(done_, nullptr);
        report.each = std::move(results_);
    }
    done(std::move(report));
}

}  // namespace shove::rabbitmq_backend
