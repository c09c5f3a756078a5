#include "respawner.hpp"

#include "broker_core.hpp"

namespace shove::detail {

respawner::respawner(std::shared_ptr<broker_core> broker, std::shared_ptr<crew> members)
    : broker_(std::move(broker)), crew_(std::move(members)), alarm_(broker_->clock()) {}

void respawner::look_soon() {
    broker_->supervising().post([weak = weak_from_this()] {
        if (auto self = weak.lock()) self->look();
    });
}

void respawner::look() {
    const auto ended = crew_->sweep();  // their handlers are destroyed here, with no lock held
    if (declaring_ || crew_->draining() || broker_->closed()) return;
    const auto next = decision_.look(broker_->clock().now(), crew_->count().live, crew_->target(), broker_->random());
    say(next.what);
    if (next.again) {
        alarm_.set(*next.again, [weak = weak_from_this()] {
            if (auto self = weak.lock()) self->look_soon();
        });
    } else {
        alarm_.clear();
    }
    if (next.spawn > 0) begin_round(next.spawn);
}

void respawner::say(decide::respawn::event what) const {
    using event = decide::respawn::event;
    const auto& queue = crew_->plan().queue();
    if (what == event::opened) {
        broker_->tell(happening::respawn_opened,
                      std::to_string(decision_.streak()) + " attempts in a row to replace consumers of '" + queue +
                          "' failed; from now on one is tried every 5 minutes",
                      {{"queue", queue}, {"count", std::int64_t{decision_.streak()}}});
    } else if (what == event::probing) {
        broker_->tell(happening::respawn_probing, "trying one consumer of '" + queue + "'", {{"queue", queue}});
    } else if (what == event::closed) {
        broker_->tell(happening::respawn_closed, "consumers of '" + queue + "' stay up again", {{"queue", queue}});
    }
}

void respawner::begin_round(std::uint32_t n) {
    declaring_ = true;
    broker_->driver().declare(crew_->plan().topology, [weak = weak_from_this(), n](error why) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_->supervising().post([weak, n, why = std::move(why)] {
            if (auto same = weak.lock()) same->declared(n, why);
        });
    });
}

/// A broker that cannot be reached now is the consumers' own matter: they go on trying.
void respawner::declared(std::uint32_t n, const error& why) {
    declaring_ = false;
    if (why) broker_->count_error(broker_meters::topology);
    if (why && !is_retryable(why.code)) {
        broker_->tell(happening::respawn_failed,
                      "cannot replace consumers of '" + crew_->plan().queue() + "': " + why.message(),
                      {{"queue", crew_->plan().queue()}, {"error", why.message()}});
    } else {
        const auto made = crew_->engage(n);
        crew_->count_respawned(made);
        if (made > 0) {
            broker_->tell(happening::consumers_respawned,
                          std::to_string(made) + " new consumer(s) of '" + crew_->plan().queue() +
                              "' in place of those that ended",
                          {{"queue", crew_->plan().queue()}, {"count", std::int64_t{made}}});
        }
    }
    look();
}

}  // namespace shove::detail
