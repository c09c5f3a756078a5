#include "subscription.hpp"

#include <utility>

#include "committing.hpp"
#include "copying.hpp"

namespace shove::rabbitmq_backend {

copy_routes routes_of(const queue_topology& topology, std::string place) {
    const auto to_queue = [](const std::string& name) {
        return std::make_shared<const route>(route{.exchange = {}, .routing_key = name});
    };
    copy_routes made;
    made.place = std::move(place);
    for (const auto& tier : topology.holds)
        made.holds.push_back(to_queue(tier.queue));
    if (!topology.dead_letter_queue.empty()) made.dead_letters = to_queue(topology.dead_letter_queue);
    return made;
}

subscription::subscription(shared_parts shared, copy_routes routes, std::shared_ptr<consumer> who)
    : shared_(std::move(shared)),
      routes_(std::make_shared<const copy_routes>(std::move(routes))),
      who_(std::move(who)) {}

subscription::~subscription() {
    who_->leave(nullptr);
}

void subscription::receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done) {
    who_->receive(max, std::move(done));
}

void subscription::cancel_receive() {
    who_->cancel_receive();
}

void subscription::settle(std::vector<spi::settlement> batch,
                          spi::callback<void(std::vector<spi::failed_settlement>)> done) {
    if (who_->plan().transactional && !batch.empty()) {
        return std::make_shared<committing>(shared_, routes_, who_, std::move(batch), std::move(done))->start();
    }
    std::vector<spi::settlement> copies;
    std::vector<spi::delivery> returned;
    std::vector<spi::failed_settlement> failed;
    for (auto& what : batch) {
        const bool stored_first =
            what.kind != spi::settlement_kind::complete && what.kind != spi::settlement_kind::release;
        if (stored_first) {
            copies.push_back(std::move(what));
            continue;
        }
        if (what.kind == spi::settlement_kind::release && who_->holds(what.item.tag)) {
            if (who_->plan().shard) {
                who_->put_back(std::move(what.item));
            } else {
                returned.push_back(std::move(what.item));
            }
            continue;
        }
        if (what.kind == spi::settlement_kind::complete && who_->let_go(what.item.tag, release_kind::ack)) continue;
        if (who_->answer_later(what)) continue;
        failed.push_back({std::move(what), channel_lost_error(routes_->place)});
    }
    who_->flush_soon();
    auto rest = [shared = shared_, routes = routes_, who = who_, copies = std::move(copies), failed = std::move(failed),
                 done = std::move(done)]() mutable {
        if (copies.empty()) return done(std::move(failed));
        std::make_shared<copying>(shared, routes, who, std::move(copies), std::move(failed), std::move(done))->start();
    };
    if (returned.empty()) return rest();
    who_->give_back(std::move(returned), std::move(rest));
}

void subscription::isolate(std::uint64_t tag, spi::callback<void(error)> done) {
    who_->isolate(tag, std::move(done));
}

void subscription::close(spi::callback<void(error)> done) {
    who_->leave(std::move(done));
}

}  // namespace shove::rabbitmq_backend
