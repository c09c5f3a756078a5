#include "refusal.hpp"

namespace shove::kafka_backend {

namespace {

errc code_of(rd_kafka_resp_err_t why) noexcept {
    switch (why) {
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            return errc::unknown_queue;
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
            return errc::too_large;
        case RD_KAFKA_RESP_ERR__QUEUE_FULL:
            return errc::queue_full;
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
        case RD_KAFKA_RESP_ERR__AUTHENTICATION:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
        case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
        case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
        case RD_KAFKA_RESP_ERR__INVALID_ARG:
            return errc::invalid_argument;
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
        case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
            return errc::unsupported;
        case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
            return errc::storage_full;
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
        case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
        case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
            return errc::timed_out;
        case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
        case RD_KAFKA_RESP_ERR__FENCED:
        case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
        case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
        case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
        case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
            return errc::lease_lost;
        case RD_KAFKA_RESP_ERR__DESTROY:
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
        case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
            return errc::closed;
        default:
            return errc::not_connected;
    }
}

}  // namespace

error publish_error(const std::string& topic, rd_kafka_resp_err_t why, bool sent) {
    const auto code = code_of(why);
    std::string text = "topic '" + topic + "': ";
    if (code == errc::unknown_queue) return {code, text + "it is not on this Kafka cluster; declare it first"};
    if (code == errc::too_large) {
        return {code, text + "the message is larger than the broker or the client takes; see message.max.bytes"};
    }
    if (sent) return {errc::connection_lost, text + "sent, but not confirmed: " + rd_kafka_err2str(why)};
    return {code, text + "not stored: " + rd_kafka_err2str(why)};
}

error broker_error(const std::string& what, rd_kafka_resp_err_t why, std::string_view detail) {
    const std::string_view said = detail.empty() ? std::string_view(rd_kafka_err2str(why)) : detail;
    return {code_of(why), what + ": " + std::string(said)};
}

error error_of(rd_kafka_resp_err_t why, const std::string& what, std::string_view detail) {
    return why == RD_KAFKA_RESP_ERR_NO_ERROR ? error() : broker_error(what, why, detail);
}

}  // namespace shove::kafka_backend
