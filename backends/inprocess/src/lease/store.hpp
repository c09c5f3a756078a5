#pragma once

#include "group.hpp"

#include <shove/detail/lease_rules.hpp>
#include <shove/lease_options.hpp>
#include <shove/spi/lease_port.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shove::inprocess_backend::lease {

/// All topics with their groups, under one lock of the caller's. Knows no clock and wakes nobody.
class store {
public:
    explicit store(const lease_options& options) : name_space_(options.name_space), limits_(options.limits) {}

    struct topic {
        topic_log log;
        std::map<std::string, group> groups;
    };

    spi::lease_receipts publish(std::vector<spi::lease_publish>& messages, const moment& now);
    result<lease_subscribed> subscribe(const std::string& topic, const std::string& group, const lease_start& from);
    result<std::size_t> unsubscribe(const std::string& topic, const std::string& group);
    result<std::vector<leased>> receive(const lease_request& what, const moment& now);
    result<lease_settled> settle(const lease_settlement& how, const moment& now);
    result<lease_dead_page> dead_letters(const lease_dead_query& what) const;
    result<std::size_t> redrive(const lease_redrive& what, const moment& now);
    std::size_t purge(const std::string& topic, std::size_t limit);
    /// Removes what may go by itself, at most so many; gives how many went.
    std::size_t retire(const lease_retention& by, const moment& now, std::size_t most);
    lease_stats count() const;

    const lease_limits& limits() const noexcept { return limits_; }
    /// The group, or the error that it was never subscribed.
    result<const group*> find(const std::string& topic, const std::string& group) const;

private:
    result<lease_receipt> publish_one(spi::lease_publish& what, const moment& now, const message_id& id);
    result<group*> group_of(const std::string& topic, const std::string& group);
    bool finished(const topic& of, sequence number) const;
    void remove(topic& of, sequence number);

    const std::string name_space_;
    const lease_limits limits_;
    detail::random_source random_;
    token_table tokens_;  // before the groups, which leave it
    std::map<std::string, topic> topics_;
    std::uint64_t retained_ = 0;
    std::uint64_t payload_bytes_ = 0;
    std::uint32_t subscriptions_ = 0;
};

}  // namespace shove::inprocess_backend::lease
