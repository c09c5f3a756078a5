#include "subscription.hpp"

#include <algorithm>
#include <iterator>

namespace shove::in_memory {

subscription::subscription(std::shared_ptr<clock> time, std::shared_ptr<core> shared, queue& source, spi::source from,
                           std::shared_ptr<tap> own)
    : clock_(std::move(time)),
      core_(std::move(shared)),
      own_(std::move(own)),
      queue_(source),
      from_(std::move(from)),
      receiver_(from_.prefetch, from_.shard.has_value()) {}

void subscription::settle(std::vector<spi::settlement> batch, settle_done done) {
    auto dead = split_dead_letters(batch);
    auto failed = batch.empty() ? failures{} : queue_.settle(receiver_, batch);
    batch.clear();
    if (!dead.empty()) return bury(std::move(dead), std::move(failed), std::move(done));
    done(std::move(failed));
}

std::vector<spi::settlement> subscription::split_dead_letters(std::vector<spi::settlement>& batch) const {
    const auto elsewhere = [&](const spi::settlement& s) {
        return s.kind == spi::settlement_kind::dead_letter && from_.topology->dead_letter_queue != queue_.name();
    };
    if (std::none_of(batch.begin(), batch.end(), elsewhere)) return {};
    const auto first = std::stable_partition(batch.begin(), batch.end(), std::not_fn(elsewhere));
    std::vector<spi::settlement> dead(std::make_move_iterator(first), std::make_move_iterator(batch.end()));
    batch.erase(first, batch.end());
    return dead;
}

void subscription::bury(std::vector<spi::settlement> dead, failures failed, settle_done done) {
    const std::string& grave = from_.topology->dead_letter_queue;
    if (grave.empty() || core_->closed()) {
        const error cause = core_->closed() ? closed_error()
                                            : error(errc::invalid_argument, "queue '" + queue_.name() +
                                                                                "' has no dead-letter queue: add "
                                                                                "dlq() to its topology");
        for (auto& d : dead)
            failed.push_back({std::move(d), cause});
        return done(std::move(failed));
    }
    store_batch letters;
    std::size_t bytes = 0;
    std::vector<std::string> poisoned(dead.size());
    for (std::size_t i = 0; i < dead.size(); ++i) {
        auto& d = dead[i];
        if (d.poison_key) poisoned[i] = d.item.msg.key().value_or("");
        bytes += queue_.weigh(d.item.msg);
        letters.messages.push_back({std::move(d.item.msg), milliseconds(0)});
        letters.pasts.push_back(std::move(d.item.past));
    }
    queue& target = core_->find_or_add(grave);
    target.store(std::move(letters), core_->time().now() + dead_letter_patience,
                 [self = shared_from_this(), dead = std::move(dead), failed = std::move(failed), done = std::move(done),
                  poisoned = std::move(poisoned), &target, bytes](errc cause, store_batch rest) mutable {
                     const error why = cause == errc::ok ? error() : target.explain(cause);
                     for (std::size_t i = 0; i < rest.stored; ++i) {
                         if (!poisoned[i].empty()) self->queue_.poison(poisoned[i]);
                     }
                     auto lost = self->buried(std::move(dead), std::move(rest), bytes, why);
                     std::move(lost.begin(), lost.end(), std::back_inserter(failed));
                     done(std::move(failed));
                 });
}

failures subscription::buried(std::vector<spi::settlement> dead, store_batch rest, std::size_t bytes, error cause) {
    failures failed;
    for (std::size_t i = rest.stored; i < dead.size(); ++i) {
        dead[i].item.msg = std::move(rest.messages[i].msg);
        dead[i].item.past = std::move(rest.pasts[i]);
        bytes -= queue_.weigh(dead[i].item.msg);
        failed.push_back({std::move(dead[i]), cause});
    }
    if (rest.stored > 0) queue_.forget(receiver_, rest.stored, bytes);
    return failed;
}

void subscription::close(spi::callback<void(error)> done) {
    queue_.detach(receiver_);
    if (own_) own_->end();
    done({});
}

}  // namespace shove::in_memory
