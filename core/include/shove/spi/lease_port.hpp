#pragma once

#include <shove/clock.hpp>
#include <shove/detail/unique_function.hpp>
#include <shove/error.hpp>
#include <shove/lease_message.hpp>
#include <shove/lease_options.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

/// What a store of leases implements, behind `lease_broker`. The rules are the driver's (spi/driver.hpp): nothing
/// blocks, each callback is called exactly once, from any thread, with no lock held. What is given was checked by
/// `lease_broker`: a port never sees a bad name, limit, lease or delay.
namespace shove::spi {

/// The SHA-256 of a message's content (`detail::fingerprint_of`).
using fingerprint = std::array<std::byte, 32>;

/// A checked message; its headers are in order of their names.
struct lease_publish {
    lease_message message;
    fingerprint content{};
};

using lease_receipts = std::vector<result<lease_receipt>>;
using lease_outcomes = std::vector<result<lease_settled>>;

class lease_port {
public:
    template <class T>
    using answer = unique_function<void(result<T>)>;

    virtual ~lease_port() = default;

    /// One result per message, in order; the messages of a batch are stored or refused each for itself, in one step.
    virtual void publish(std::vector<lease_publish> messages, answer<lease_receipts> done) = 0;
    virtual void subscribe(std::string topic, std::string group, lease_start from, answer<lease_subscribed> done) = 0;
    /// Answers how many messages waited, or were in somebody's hands, for it.
    virtual void unsubscribe(std::string topic, std::string group, answer<std::size_t> done) = 0;
    /// Answers with an empty list once `wait` has passed.
    virtual void receive(lease_request what, answer<std::vector<leased>> done) = 0;
    /// One result per settlement, in order.
    virtual void settle(std::vector<lease_settlement> what, answer<lease_outcomes> done) = 0;
    virtual void dead_letters(lease_dead_query what, answer<lease_dead_page> done) = 0;
    virtual void redrive(lease_redrive what, answer<std::size_t> done) = 0;
    virtual void purge(std::string topic, std::size_t limit, answer<std::size_t> done) = 0;
    virtual void stats(answer<lease_stats> done) = 0;
    /// Ends what waits with `errc::closed`, and refuses what comes later.
    virtual void close() = 0;

    /// As it was opened, or as the store says.
    virtual lease_limits limits() const = 0;
};

}  // namespace shove::spi
