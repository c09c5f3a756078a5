#include <shove/detail/past.hpp>

#include <algorithm>
#include <span>

#include "layout.hpp"
#include "member.hpp"

// Decisions of the engine. A retry and a dead letter are copies: stored first, and only then is the original's offset
// committed (G1).

namespace shove::kafka_backend {

/// The settlements of one batch that need something stored first. Lives until each has its fate.
struct member::copying {
    std::vector<spi::settlement> which;
    std::vector<std::size_t> of;  ///< By parcel: the settlement that it belongs to.
    std::vector<spi::failed_settlement> failed;
    std::size_t open = 1;  ///< One for who begins it.
    spi::callback<void(std::vector<spi::failed_settlement>)> done;

    void fail(spi::settlement what, error why) { failed.push_back({std::move(what), std::move(why)}); }
    void count_down(std::size_t n = 1) {
        open -= n;
        if (open == 0) done(std::move(failed));
    }
};

void member::settle(std::vector<spi::settlement> batch, spi::callback<void(std::vector<spi::failed_settlement>)> done) {
    auto all = std::make_shared<copying>();
    all->done = std::move(done);
    std::vector<spi::settlement> kept;
    bool returned = false;
    for (auto& what : batch) {
        auto* of = holding_of(what.item.tag);
        if (of == nullptr || !of->core.is_handed(what.item.tag)) {
            all->fail(std::move(what), lease_lost_error());
            continue;
        }
        switch (what.kind) {
            case spi::settlement_kind::complete:
                of->core.settle(what.item.tag);
                break;
            case spi::settlement_kind::release:
                of->core.put_back(std::move(what.item));
                returned = true;
                break;
            case spi::settlement_kind::keep:
                kept.push_back(std::move(what));
                break;
            default:
                all->which.push_back(std::move(what));
        }
    }
    for (auto& what : kept) {
        auto& of = *holding_of(what.item.tag);
        keep(of, std::move(what), all);
    }
    settled_some();
    if (!all->which.empty()) copy(all);
    if (revoking_) proceed_revoke();
    if (returned && !leaving_) serve();
    all->count_down();
}

void member::keep(holding& of, spi::settlement what, const std::shared_ptr<copying>& batch) {
    const auto blank = spi::history();
    of.core.keep(what.item.tag, what.item.past ? *what.item.past : blank, parts_.time->wall() + what.delay);
    ++batch->open;
    if (plan_.groupless) return batch->count_down();
    auto item = std::make_shared<spi::settlement>(std::move(what));
    when_durable(of, [batch, item](const error& why) {
        if (why) batch->fail(std::move(*item), why);
        batch->count_down();
    });
}

void member::copy(std::shared_ptr<copying> batch) {
    // Topics where messages wait are made when they are needed first; mostly they are there.
    std::vector<std::string> needed;
    shipment made;
    for (std::size_t i = 0; i < batch->which.size(); ++i) {
        const auto& what = batch->which[i];
        if (what.poison_key && book_) {  // known before the dead letter is
            made.parcels.push_back(poison(std::string(what.item.msg.key().value_or(""))));
            batch->of.push_back(i);
        }
        parcel one;
        one.msg = what.item.msg;
        one.past = what.item.past.get();
        if (what.kind == spi::settlement_kind::dead_letter) {
            one.topic =
                plan_.dead_letters ? plan_.dead_letters : std::make_shared<const std::string>(plan_.place + "-dlq");
        } else {
            one.topic = std::make_shared<const std::string>(retry_topic(plan_.place, wait_class_of(what.delay)));
            one.due = std::chrono::time_point_cast<std::chrono::microseconds>(parts_.time->wall() + what.delay);
            if (std::ranges::find(needed, *one.topic) == needed.end()) needed.push_back(*one.topic);
        }
        made.parcels.push_back(std::move(one));
        batch->of.push_back(i);
    }
    ++batch->open;
    made.done = [self = shared_from_this(), batch](std::vector<spi::publish_result> results) {
        self->parts_.on->post([self, batch, results = std::move(results)] { self->copies_stored(batch, results); });
    };
    const auto left = std::make_shared<std::size_t>(needed.size());
    const auto shipped = std::make_shared<shipment>(std::move(made));
    if (needed.empty()) return parts_.publishing->post(std::move(*shipped));
    for (const auto& topic : needed) {
        parts_.ensure(topic, plan_.topics.front(), [self = shared_from_this(), left, shipped](const error&) {
            // If it could not be made, publishing says so.
            self->parts_.on->post([self, left, shipped] {
                if (--*left == 0) self->parts_.publishing->post(std::move(*shipped));
            });
        });
    }
}

parcel member::poison(const std::string& key) const {
    const auto value = key_book::value_of(parts_.time->wall());
    message_parts record;
    record.key = key;
    record.payload = std::as_bytes(std::span(value));
    parcel made;
    made.msg = message::make(record);
    made.topic = std::make_shared<const std::string>(plan_.keys);
    made.partition = 0;
    return made;
}

void member::copies_stored(const std::shared_ptr<copying>& batch, const std::vector<spi::publish_result>& results) {
    std::vector<error> causes(batch->which.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        auto& cause = causes[batch->of[i]];
        if (results[i].status != spi::publish_status::ok && !cause) cause = results[i].cause;
    }
    for (std::size_t i = 0; i < batch->which.size(); ++i) {
        auto& what = batch->which[i];
        if (causes[i]) {
            if (causes[i] == errc::unknown_queue && what.kind == spi::settlement_kind::delay) {
                parts_.forget(retry_topic(plan_.place, wait_class_of(what.delay)));
            }
            batch->fail(std::move(what), causes[i]);
            continue;
        }
        if (what.poison_key && book_) book_->add(std::string(what.item.msg.key().value_or("")), parts_.time->wall());
        // If its partition went meanwhile, the original is handled again elsewhere: a double, no loss.
        if (auto* of = holding_of(what.item.tag)) of->core.settle(what.item.tag);
    }
    if (!closed_) settled_some();
    proceed_revoke();
    batch->count_down();
}

void member::isolate(std::uint64_t tag, spi::callback<void(error)> done) {
    auto* of = holding_of(tag);
    if (of == nullptr) return done(lease_lost_error());
    if (plan_.groupless) return done({});
    of->core.isolate(tag);
    when_durable(*of, std::move(done));
}

}  // namespace shove::kafka_backend
