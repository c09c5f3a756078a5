#include "content_header.hpp"

#include <array>
#include <utility>

#include "field_codec.hpp"

namespace shove::rabbitmq_backend {

std::size_t content_header_size(const amqp_basic_properties_t& p) noexcept {
    const auto has = [&](amqp_flags_t flag) { return (p._flags & flag) != 0; };
    std::size_t size = 2 + 2 + 8 + 2;
    const std::array<std::pair<amqp_flags_t, std::size_t>, 10> texts{{
        {AMQP_BASIC_CONTENT_TYPE_FLAG, p.content_type.len},
        {AMQP_BASIC_CONTENT_ENCODING_FLAG, p.content_encoding.len},
        {AMQP_BASIC_CORRELATION_ID_FLAG, p.correlation_id.len},
        {AMQP_BASIC_REPLY_TO_FLAG, p.reply_to.len},
        {AMQP_BASIC_EXPIRATION_FLAG, p.expiration.len},
        {AMQP_BASIC_MESSAGE_ID_FLAG, p.message_id.len},
        {AMQP_BASIC_TYPE_FLAG, p.type.len},
        {AMQP_BASIC_USER_ID_FLAG, p.user_id.len},
        {AMQP_BASIC_APP_ID_FLAG, p.app_id.len},
        {AMQP_BASIC_CLUSTER_ID_FLAG, p.cluster_id.len},
    }};
    for (const auto& [flag, bytes] : texts)
        size += has(flag) ? 1 + bytes : 0;
    size += has(AMQP_BASIC_DELIVERY_MODE_FLAG) ? 1 : 0;
    size += has(AMQP_BASIC_PRIORITY_FLAG) ? 1 : 0;
    size += has(AMQP_BASIC_TIMESTAMP_FLAG) ? 8 : 0;
    return has(AMQP_BASIC_HEADERS_FLAG) ? size + encoded_size(p.headers) : size;
}

}  // namespace shove::rabbitmq_backend
