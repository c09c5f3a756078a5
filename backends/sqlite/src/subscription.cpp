#include "subscription.hpp"

#include "settle_job.hpp"
#include "subscription_jobs.hpp"

#include <utility>

namespace shove::sqlite_backend {

subscription::subscription(std::shared_ptr<mailbox> inbox, std::shared_ptr<reader> who, std::string dead_letter_queue)
    : inbox_(std::move(inbox)), who_(std::move(who)), dead_letter_queue_(std::move(dead_letter_queue)) {}

subscription::~subscription() {
    if (who_) inbox_->post(std::make_unique<unsubscribe_job>(std::move(who_), nullptr));
}

void subscription::receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done) {
    inbox_->post(std::make_unique<receive_job>(who_, max, std::move(done)));
}

void subscription::cancel_receive() {
    inbox_->post(std::make_unique<cancel_job>(who_));
}

void subscription::settle(std::vector<spi::settlement> batch,
                          spi::callback<void(std::vector<spi::failed_settlement>)> done) {
    inbox_->post(std::make_unique<settle_job>(who_, dead_letter_queue_, std::move(batch), std::move(done)));
}

void subscription::extend(std::vector<std::uint64_t> tags, spi::callback<void(std::vector<std::uint64_t>)> done) {
    inbox_->post(std::make_unique<extend_job>(who_, std::move(tags), std::move(done)));
}

void subscription::isolate(std::uint64_t tag, spi::callback<void(error)> done) {
    inbox_->post(std::make_unique<isolate_job>(tag, std::move(done)));
}

void subscription::close(spi::callback<void(error)> done) {
    inbox_->post(std::make_unique<unsubscribe_job>(who_, std::move(done)));
}

}  // namespace shove::sqlite_backend
