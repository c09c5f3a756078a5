#include "committing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "copying.hpp"

namespace shove::rabbitmq_backend {
namespace {

bool needs_copy(const spi::settlement& what) {
    return what.kind == spi::settlement_kind::delay || what.kind == spi::settlement_kind::dead_letter;
}

}  // namespace

committing::committing(shared_parts shared, std::shared_ptr<const copy_routes> routes, std::shared_ptr<consumer> who,
                       std::vector<spi::settlement> batch, finished done)
    : shared_(std::move(shared)),
      routes_(std::move(routes)),
      who_(std::move(who)),
      batch_(std::move(batch)),
      fates_(batch_.size(), {}, std::move(done)) {}

void committing::start() {
    if (std::ranges::any_of(batch_, needs_copy)) parcels_.resize(batch_.size());
    indices kept;
    indices released;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        const auto& what = batch_[i];
        switch (what.kind) {
            case spi::settlement_kind::complete:
                complete(i);
                break;
            case spi::settlement_kind::release:
                released.push_back(i);
                break;
            case spi::settlement_kind::keep:
                kept.push_back(i);
                break;
            case spi::settlement_kind::dead_letter:
                copy(i, routes_->dead_letters);
                break;
            case spi::settlement_kind::delay:
                if (what.tier && *what.tier < routes_->holds.size()) {
                    copy(i, routes_->holds[*what.tier]);
                } else {
                    copy_to_delay_queue(i);
                }
                break;
        }
    }
    who_->flush();
    if (!kept.empty()) store_first(kept);
    if (!released.empty()) release(released);
}

std::span<const parcel> committing::copies(std::size_t index) const {
    return parcels_.empty() ? std::span<const parcel>() : std::span<const parcel>(parcels_[index]);
}

void committing::complete(std::size_t index) {
    auto& what = batch_[index];
    if (who_->let_go(what.item.tag, release_kind::ack, shared_from_this(), index)) return;
    if (who_->answer_later(what)) return fates_.count_down(1);
    too_late(index);
}

void committing::copy(std::size_t index, const std::shared_ptr<const route>& way) {
    auto& what = batch_[index];
    auto& parcels = parcels_[index];
    parcels.push_back(copy_of(what, way, marks_.of(index)));
    if (what.poison_key) {
        std::ranges::move(who_->poison(std::string(what.item.msg.key().value_or(""))), std::back_inserter(parcels));
    }
    if (!who_->let_go(what.item.tag, release_kind::ack, shared_from_this(), index)) store_first({index});
}

void committing::copy_to_delay_queue(std::size_t index) {
    wait_for_delay_queue(shared_, *routes_, batch_[index],
                         [self = shared_from_this(), index](result<std::shared_ptr<const route>> way) {
                             if (!way) return self->fail(index, way.error());
                             self->copy(index, *way);
                             self->who_->flush();
                         });
}

void committing::release(const indices& which) {
    indices held;
    std::vector<const spi::delivery*> unbegun;
    for (const auto index : which) {
        auto& what = batch_[index];
        if (!who_->holds(what.item.tag)) {
            if (who_->answer_later(what)) {
                fates_.count_down(1);
            } else {
                too_late(index);
            }
        } else if (who_->plan().shard) {
            who_->put_back(std::move(what.item));
            fates_.count_down(1);
        } else {
            held.push_back(index);
            unbegun.push_back(&what.item);
        }
    }
    if (held.empty()) return;
    who_->say_unbegun(unbegun, [self = shared_from_this(), held] {
        for (const auto index : held) {
            const auto tag = self->batch_[index].item.tag;
            if (!self->who_->let_go(tag, release_kind::requeue, self, index)) self->too_late(index);
        }
        self->who_->flush();
    });
}

void committing::committed(std::size_t index) {
    const auto& what = batch_[index];
    if (what.poison_key) who_->poisoned(std::string(what.item.msg.key().value_or("")));
    fates_.count_down(1);
}

void committing::uncertain(std::size_t index) {
    auto& what = batch_[index];
    if (needs_copy(what)) return store_first({index});
    if (what.kind == spi::settlement_kind::complete) {
        spi::settlement done;
        done.item.msg = what.item.msg;
        done.item.tag = what.item.tag;
        who_->remember(std::move(done));
    }
    too_late(index);
}

void committing::store_first(const indices& which) {
    std::vector<spi::settlement> some;
    some.reserve(which.size());
    for (const auto index : which)
        some.push_back(std::move(batch_[index]));
    auto done = [self = shared_from_this(), count = which.size()](std::vector<spi::failed_settlement> failed) {
        for (auto& each : failed)
            self->fates_.fail(std::move(each.what), std::move(each.cause));
        self->fates_.count_down(count);
    };
    std::make_shared<copying>(shared_, routes_, who_, std::move(some), std::vector<spi::failed_settlement>(),
                              std::move(done))
        ->start();
}

void committing::too_late(std::size_t index) {
    fail(index, channel_lost_error(routes_->place));
}

void committing::fail(std::size_t index, const error& cause) {
    fates_.fail(std::move(batch_[index]), cause);
    fates_.count_down(1);
}

}  // namespace shove::rabbitmq_backend
