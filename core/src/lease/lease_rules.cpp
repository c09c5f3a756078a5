#include <shove/detail/lease_rules.hpp>

#include <openssl/rand.h>

#include <limits>
#include <utility>

namespace shove::detail {

error random_source::fill(std::span<random_16> into) {
    for (auto& each : into) {
        if (left_ == 0) {
            const auto bytes = std::as_writable_bytes(std::span(pool_));
            if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) {
                return {errc::randomness_unavailable, "the system gave no random bytes for an id; try again"};
            }
            left_ = pool_.size();
        }
        each = std::exchange(pool_[--left_], {});
    }
    return {};
}

error random_source::fill_uuids(std::span<random_16> into) {
    auto failed = fill(into);
    for (auto& id : into) {
        id[6] = (id[6] & std::byte{0x0f}) | std::byte{0x40};
        id[8] = (id[8] & std::byte{0x3f}) | std::byte{0x80};
    }
    return failed;
}

result<std::int64_t> wall_ms(const clock& time) {
    const auto since = time.wall().time_since_epoch();
    if (since.count() >= 0) return std::chrono::floor<milliseconds>(since).count();
    return error(errc::clock_out_of_range, "the clock stands before 1970; set it");
}

result<std::int64_t> later_ms(std::int64_t now, milliseconds by) {
    // Calendar times are kept in microseconds outside.
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 1000;
    if (now <= most - by.count()) return now + by.count();
    return error(errc::clock_out_of_range,
                 "the clock stands too late for a time of " + std::to_string(by.count()) + " ms from now; set it");
}

error no_subscription(std::string_view topic, std::string_view group) {
    std::string text = "group '";
    text.append(group).append("' was never subscribed to topic '").append(topic).append("'; subscribe it first");
    return {errc::unknown_subscription, std::move(text)};
}

error lease_unknown() {
    return {errc::unknown_lease,
            "the lease token was never given, was used, or its lease went to somebody else; its message is or was "
            "delivered again, so let go of it"};
}

error lease_over() {
    return {errc::lease_expired,
            "the lease had ended before it was settled; its message was given back or dead-lettered: lease for longer, "
            "or extend in time"};
}

error key_taken(std::string_view topic) {
    return {errc::idempotency_conflict, "topic '" + std::string(topic) +
                                            "': the idempotency key is taken by a message of other content; give "
                                            "each intent a key of its own"};
}

error no_capacity(std::string_view resource, std::uint64_t limit) {
    std::string text = "the limit of " + std::to_string(limit) + " ";
    text.append(resource).append(" is reached; purge or unsubscribe what is finished, or raise it");
    return {errc::capacity_exceeded, std::move(text)};
}

error broker_closed() {
    return {errc::closed, "the lease broker was closed"};
}

}  // namespace shove::detail
