#include "copying.hpp"

#include <utility>

namespace shove::rabbitmq_backend {

parcel copy_of(const spi::settlement& what, std::shared_ptr<const route> way, std::int64_t mark) {
    parcel made;
    made.msg = what.item.msg;
    made.to = std::move(way);
    made.past = what.item.past.get();
    if (what.kind == spi::settlement_kind::delay) made.notes = handled_before_note(mark);
    return made;
}

void wait_for_delay_queue(const shared_parts& shared, const copy_routes& routes, const spi::settlement& what,
                          delays::found done) {
    // Not before the others of its batch, and as long as it takes: the engine's own backoff stands behind a failure.
    constexpr std::chrono::seconds patience{10};
    shared.waiting->with(delay_queue(routes.place, rounded_delay(what.delay), shared.settings->queues),
                         std::chrono::steady_clock::now() + patience, std::move(done));
}

error channel_lost_error(const std::string& place) {
    return {errc::lease_lost, "the channel of a delivery from '" + place + "' was lost before it was settled"};
}

copying::copying(shared_parts shared, std::shared_ptr<const copy_routes> routes, std::shared_ptr<consumer> who,
                 std::vector<spi::settlement> copies, std::vector<spi::failed_settlement> failed, finished done)
    : shared_(std::move(shared)),
      routes_(std::move(routes)),
      who_(std::move(who)),
      copies_(std::move(copies)),
      fates_(copies_.size(), std::move(failed), std::move(done)) {}

void copying::outbound::add(std::size_t index, parcel copy) {
    which.push_back(index);
    parcels.push_back(std::move(copy));
}

parcel copying::copy(std::size_t index, std::shared_ptr<const route> way) const {
    return copy_of(copies_[index], std::move(way), marks_.of(index));
}

void copying::start() {
    outbound known;
    std::vector<std::size_t> delayed;
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
        const auto& what = copies_[i];
        if (what.kind == spi::settlement_kind::keep) {
            kept.push_back(i);
        } else if (what.kind == spi::settlement_kind::dead_letter) {
            known.add(i, copy(i, routes_->dead_letters));
            if (what.poison_key) {
                for (auto& note : who_->poison(std::string(what.item.msg.key().value_or(""))))
                    known.add(i, std::move(note));
            }
        } else if (what.tier && *what.tier < routes_->holds.size()) {
            known.add(i, copy(i, routes_->holds[*what.tier]));
        } else {
            delayed.push_back(i);
        }
    }
    if (!known.which.empty()) publish(std::move(known));
    for (const auto index : delayed)
        wait_in_delay_queue(index);
    for (const auto index : kept)
        keep(index);
}

void copying::keep(std::size_t index) {
    who_->keep(copies_[index], [self = shared_from_this(), index](const error& why) {
        if (why) self->fail(index, why);
        self->fates_.count_down(1);
    });
}

void copying::wait_in_delay_queue(std::size_t index) {
    wait_for_delay_queue(shared_, *routes_, copies_[index],
                         [self = shared_from_this(), index](result<std::shared_ptr<const route>> way) {
                             if (!way) {
                                 self->fail(index, way.error());
                                 return self->fates_.count_down(1);
                             }
                             outbound one;
                             one.add(index, self->copy(index, std::move(*way)));
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
    std::size_t settled = 0;
    for (std::size_t i = 0; i < which.size();) {
        const auto index = which[i];
        error cause;
        for (; i < which.size() && which[i] == index; ++i) {
            const bool bad = !results.empty() && results[i].status != spi::publish_status::ok;
            if (bad && !cause) cause = results[i].cause;
        }
        if (cause == errc::too_large && copies_[index].item.past) {
            too_large.push_back(index);
            continue;
        }
        ++settled;
        if (cause == errc::unroutable) {  // a queue is gone; the next attempt finds it, if it was made here
            shared_.waiting->forget();
            if (who_->plan().repair) who_->plan().repair();
        }
        if (cause) {
            fail(index, cause);
        } else {
            stored(copies_[index]);
        }
    }
    who_->flush();
    for (const auto index : too_large)
        publish_bare(index);
    fates_.count_down(settled);
}

/// Headers of another client leave no room for its story: it is dead-lettered as it came, rather than called for ever.
void copying::publish_bare(std::size_t index) {
    auto& what = copies_[index];
    what.item.past.reset();
    if (!routes_->dead_letters) {
        fail(index, error(errc::too_large, "a message of '" + routes_->place +
                                               "' has headers that leave no room for ours, and there is no dead-letter "
                                               "queue: it stays where it is"));
        return fates_.count_down(1);
    }
    outbound one;
    one.add(index, copy(index, routes_->dead_letters));
    publish(std::move(one));
}

void copying::stored(spi::settlement& what) {
    if (what.poison_key) who_->poisoned(std::string(what.item.msg.key().value_or("")));
    if (who_->let_go(what.item.tag, release_kind::ack)) return;
    // Its channel went meanwhile: the original comes back, and is then only acknowledged.
    what.kind = spi::settlement_kind::complete;
    who_->answer_later(what);
}

void copying::fail(std::size_t index, const error& cause) {
    fates_.fail(std::move(copies_[index]), cause);
}

}  // namespace shove::rabbitmq_backend
