#pragma once

#include <shove/testkit/lease_contract.hpp>
#include <shove/testkit/manual_clock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::testkit {

using namespace std::chrono_literals;

/// What a case works with: one place, one clock that stands still, and short ways to speak to a broker.
class lease_stage {
public:
    explicit lease_stage(const lease_factory& factory) : place_(factory.make_place()) {}

    const std::shared_ptr<manual_clock>& time() const noexcept { return time_; }
    void pass(milliseconds by) { time_->advance(by); }

    /// Opens one more broker; throws where that fails.
    lease_broker open(lease_options options = {}) { return try_open(std::move(options)).value(); }
    result<lease_broker> try_open(lease_options options = {}) {
        if (!options.clock) options.clock = time_;
        return place_->open(std::move(options));
    }
    static lease_options limited(lease_limits limits) {
        lease_options made;
        made.limits = limits;
        return made;
    }

private:
    std::shared_ptr<manual_clock> time_ = std::make_shared<manual_clock>();
    std::unique_ptr<lease_place> place_;
};

inline lease_message message_of(std::string_view key, std::string_view payload = "SECRET-body",
                                std::string_view topic = "events") {
    lease_message made;
    made.topic = topic;
    made.event_kind = "event.created";
    made.idempotency_key = key;
    made.payload = payload;
    return made;
}

inline lease_receipt publish(const lease_broker& to, std::string_view key, std::string_view payload = "SECRET-body") {
    return to.publish(message_of(key, payload)).value();
}

inline lease_request request_of(std::size_t max = 10, std::string_view group = "mailers") {
    lease_request made;
    made.topic = "events";
    made.group = group;
    made.consumer = "worker-1";
    made.max = max;
    return made;
}

inline std::vector<leased> receive(const lease_broker& from, std::size_t max = 10, std::string_view group = "mailers") {
    return from.receive(request_of(max, group)).value();
}

/// The one message that is due.
inline leased receive_one(const lease_broker& from, std::string_view group = "mailers") {
    auto got = receive(from, 1, group);
    if (got.size() != 1) throw exception(error(errc::internal, "expected a message, got none"));
    return got.front();
}

inline lease_subscribed subscribe(const lease_broker& at, lease_start from = lease_start::kind::latest,
                                  std::string_view group = "mailers") {
    return at.subscribe("events", std::string(group), from).value();
}

inline std::vector<lease_dead_letter> dead(const lease_broker& at, std::string_view group = "mailers") {
    return at.dead_letters({"events", std::string(group), 100, 0}).value().letters;
}

/// The sequences of deliveries, for a comparison.
template <class Deliveries>
std::vector<std::uint64_t> sequences(const Deliveries& of) {
    std::vector<std::uint64_t> made;
    for (const auto& each : of)
        made.push_back(each.envelope->sequence);
    return made;
}

/// The error of a call that must not work.
template <class T>
error_code code_of(const result<T>& answer) {
    return answer ? error_code() : answer.error().code;
}

void add_lease_publish_cases(std::vector<lease_case>& into);
void add_lease_settle_cases(std::vector<lease_case>& into);
void add_lease_dead_cases(std::vector<lease_case>& into);
void add_lease_bounds_cases(std::vector<lease_case>& into);
void add_lease_wait_cases(std::vector<lease_case>& into);
void add_lease_durable_cases(std::vector<lease_case>& into);

}  // namespace shove::testkit
