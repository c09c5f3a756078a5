#include "posting.hpp"

#include <algorithm>
#include <utility>

namespace shove::rabbitmq_backend {

void post_until_known(std::shared_ptr<outlet> by, std::vector<parcel> what, steady_time until,
                      spi::callback<void(error)> done) {
    auto& way = *by;
    shipment made;
    made.parcels = what;
    made.deadline = until;
    made.done = [by = std::move(by), what = std::move(what), until,
                 done = std::move(done)](const std::vector<spi::publish_result>& results) mutable {
        const auto fails = [](const auto& one) { return one.status != spi::publish_status::ok; };
        const auto vague = [](const auto& one) { return one.status == spi::publish_status::unknown; };
        const auto failed = std::ranges::find_if(results, fails);
        if (failed == results.end()) return done({});
        if (std::ranges::none_of(results, vague) || std::chrono::steady_clock::now() >= until)
            return done(failed->cause);
        post_until_known(std::move(by), std::move(what), until, std::move(done));
    };
    way.post(std::move(made));
}

}  // namespace shove::rabbitmq_backend
