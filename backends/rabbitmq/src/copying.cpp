#include "copying.hpp"

#include <utility>

namespace shove::rabbitmq_backend {

copying::copying(shared_parts shared, std::shared_ptr<const copy_routes> routes, std::shared_ptr<consumer> who,
                 std::vector<spi::settlement> copies, std::vector<spi::failed_settlement> failed, finished done)
    : shared_(std::move(shared)),
      routes_(std::move(routes)),
      who_(std::move(who)),
      copies_(std::move(copies)),
      failed_(std::move(failed)),
      left_(copies_.size()),
      done_(std::move(done)) {}

void copying::outbound::add(std::size_t index, const spi::settlement& what, std::shared_ptr<const route> way) {
    which.push_back(index);
    parcel& made = parcels.emplace_back();
    made.msg = what.item.msg;
    made.to = std::move(way);
    made.past = what.item.past.get();
    made.kind = what.kind == spi::settlement_kind::delay ? copy_kind::again : copy_kind::first;
}

void copying::start() {
    outbound known;
    std::vector<std::size_t> delayed;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
        const auto& what = copies_[i];
        if (what.kind == spi::settlement_kind::dead_letter) {
            known.add(i, what, routes_->dead_letters);
        } else if (what.tier && *what.tier < routes_->holds.size()) {
            known.add(i, what, routes_->holds[*what.tier]);
        } else {
            delayed.push_back(i);
        }
    }
    if (!known.which.empty()) publish(std::move(known));
    for (const auto index : delayed)
        wait_in_delay_queue(index);
}

void copying::wait_in_delay_queue(std::size_t index) {
    const auto delay = rounded_delay(copies_[index].delay);
    // Not before the others of its batch, and as long as it takes: the engine's own backoff stands behind a failure.
    constexpr std::chrono::seconds patience{10};
    shared_.waiting->with(delay_queue(routes_->place, delay, shared_.settings->queues),
                          std::chrono::steady_clock::now() + patience,
                          [self = shared_from_this(), index](result<std::shared_ptr<const route>> way) {
                              if (!way) {
                                  self->fail(index, way.error());
                                  return self->count_down(1);
                              }
                              outbound one;
                              one.add(index, self->copies_[index], std::move(*way));
                              self->publish(std::move(one));
                          });
}

void copying::publish(outbound what) {
    shipment made;
    made.parcels = std::move(what.parcels);
    made.done = [self = shared_from_this(), which = std::move(what.which)](std::vector<spi::publish_result> results) {
        self->published(which, results);
    };
    shared_.publishing->post(std::move(made));
}

void copying::published(const std::vector<std::size_t>& which, const std::vector<spi::publish_result>& results) {
    std::vector<std::size_t> too_large;
    for (std::size_t i = 0; i < which.size(); ++i) {
        auto& what = copies_[which[i]];
        if (results.empty() || results[i].status == spi::publish_status::ok) {
            stored(what);
        } else if (results[i].cause == errc::too_large && what.item.past) {
            too_large.push_back(which[i]);
        } else {
            if (results[i].cause == errc::unroutable) shared_.waiting->forget();
            fail(which[i], results[i].cause);
        }
    }
    who_->flush();
    for (const auto index : too_large)
        publish_bare(index);
    count_down(which.size() - too_large.size());
}

/// Headers of another client leave no room for its story: it is dead-lettered as it came, rather than called for ever.
void copying::publish_bare(std::size_t index) {
    auto& what = copies_[index];
    what.item.past.reset();
    if (!routes_->dead_letters) {
        fail(index, error(errc::too_large, "a message of '" + routes_->place +
                                               "' has headers that leave no room for ours, and there is no dead-letter "
                                               "queue: it stays where it is"));
        return count_down(1);
    }
    outbound one;
    one.add(index, what, routes_->dead_letters);
    publish(std::move(one));
}

void copying::stored(spi::settlement& what) {
    if (who_->let_go(what.item.tag, release_kind::ack)) return;
    // Its channel went meanwhile: the original comes back, and is then only acknowledged.
    what.kind = spi::settlement_kind::complete;
    if (who_->plan().lost) who_->plan().lost->answered(what);
}

void copying::fail(std::size_t index, const error& cause) {
    const std::lock_guard lock(mutex_);
    failed_.push_back({std::move(copies_[index]), cause});
}

void copying::count_down(std::size_t count) {
    if (count == 0) return;
    finished done;
    std::vector<spi::failed_settlement> failed;
    {
        const std::lock_guard lock(mutex_);
        left_ -= count;
        if (left_ > 0) return;
        done = std::exchange(done_, nullptr);
        failed = std::move(failed_);
    }
    done(std::move(failed));
}

}  // namespace shove::rabbitmq_backend
