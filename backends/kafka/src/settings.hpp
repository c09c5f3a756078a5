#pragma once

#include <shove/kafka.hpp>

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <string_view>

namespace shove::kafka_backend {

/// What a client is for.
enum class role : std::uint8_t {
    producing,  ///< Idempotent, `acks=all`.
    consuming,  ///< Reads topics, as a member of a group or without one.
    asking,     ///< Metadata, administration, offsets of groups. It is a consumer that reads nothing.
};

struct conf_deleter {
    void operator()(rd_kafka_conf_t* it) const noexcept { rd_kafka_conf_destroy(it); }
};
/// A client's configuration until a client takes it.
using owned_conf = std::unique_ptr<rd_kafka_conf_t, conf_deleter>;

/// What differs between clients of one role.
struct client_options {
    std::string group_id{};           ///< Consuming; empty: none is joined, partitions are assigned by hand.
    std::string group_instance_id{};  ///< Consuming: empty: none.
    std::string transactional_id{};   ///< Producing: empty: no transactions.
    bool tells_end = false;           ///< Consuming: the end of a partition is told.
};

/// The configuration of a client. It asks for events in place of callbacks, and logs nothing.
/// @param settings  Checked.
/// @par Errors  `errc::invalid_argument` with librdkafka's words: a property it does not know, a certificate that
/// cannot
///              be read. Never a secret.
result<owned_conf> make_conf(const kafka::config& settings, role what, const client_options& options = {});

/// Sets one property. Gives why not; the value is in no text.
error set_property(rd_kafka_conf_t* into, std::string_view name, const std::string& value);

/// Whether this library sets that property by itself, so that nobody else may.
bool is_ours(std::string_view property) noexcept;

/// Whether librdkafka's property holds a secret.
bool is_secret(std::string_view property) noexcept;

}  // namespace shove::kafka_backend
