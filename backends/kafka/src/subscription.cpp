#include "subscription.hpp"

#include <utility>

namespace shove::kafka_backend {

namespace {

error closed_error() {
    return {errc::closed, "the Kafka driver was closed"};
}

/// Has the loop run `what` with a callback, or, where it has ended, calls that with `otherwise`.
template <class Done, class What, class Otherwise>
void run_on(loop& on, Done done, What what, Otherwise otherwise) {
    auto kept = std::make_shared<Done>(std::move(done));
    const bool posted = on.post([kept, what = std::move(what)]() mutable { what(std::move(*kept)); });
    if (!posted) otherwise(*kept);
}

}  // namespace

subscription::subscription(std::shared_ptr<loop> on, std::shared_ptr<member> from, std::shared_ptr<receiver> who)
    : loop_(std::move(on)), member_(std::move(from)), who_(std::move(who)) {}

subscription::~subscription() {
    loop_->post([from = member_, who = who_] { from->detach(who, [](const error&) {}); });
}

void subscription::receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done) {
    run_on(
        *loop_, std::move(done),
        [from = member_, who = who_, max](auto back) {
            who->max = max;
            who->waiting = std::move(back);
            from->wanted(who);
        },
        [](auto& back) { back(closed_error()); });
}

void subscription::cancel_receive() {
    loop_->post([who = who_] { who->answer(error(errc::cancelled, "the receive was cancelled")); });
}

void subscription::settle(std::vector<spi::settlement> batch,
                          spi::callback<void(std::vector<spi::failed_settlement>)> done) {
    auto kept = std::make_shared<std::vector<spi::settlement>>(std::move(batch));
    run_on(
        *loop_, std::move(done), [from = member_, kept](auto back) { from->settle(std::move(*kept), std::move(back)); },
        [&](auto& back) {
            std::vector<spi::failed_settlement> failed;
            for (auto& what : *kept)
                failed.push_back({std::move(what), error(errc::lease_lost, "the Kafka driver was closed")});
            back(std::move(failed));
        });
}

void subscription::extend(std::vector<std::uint64_t> tags, spi::callback<void(std::vector<std::uint64_t> lost)> done) {
    run_on(
        *loop_, std::move(done), [from = member_, tags = std::move(tags)](auto back) { back(from->lost(tags)); },
        [](auto& back) { back({}); });
}

void subscription::isolate(std::uint64_t tag, spi::callback<void(error)> done) {
    run_on(
        *loop_, std::move(done), [from = member_, tag](auto back) { from->isolate(tag, std::move(back)); },
        [](auto& back) { back(closed_error()); });
}

void subscription::close(spi::callback<void(error)> done) {
    run_on(
        *loop_, std::move(done), [from = member_, who = who_](auto back) { from->detach(who, std::move(back)); },
        [](auto& back) { back({}); });
}

}  // namespace shove::kafka_backend
