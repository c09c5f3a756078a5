#include "refusal.hpp"

#include <amqp.h>

namespace shove::rabbitmq_backend {
namespace {

template <class Close>
refusal read(const void* decoded) {
    const auto& close = *static_cast<const Close*>(decoded);
    return {close.reply_code, std::string(static_cast<const char*>(close.reply_text.bytes), close.reply_text.len),
            amqp_method_number_t{close.class_id} << 16U | close.method_id};
}

}  // namespace

refusal refusal_of(const amqp_method_t& method) {
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) return read<amqp_channel_close_t>(method.decoded);
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) return read<amqp_connection_close_t>(method.decoded);
    return {0, "an unexpected answer", 0};
}

errc code_of(const refusal& why) noexcept {
    switch (why.code) {
        case AMQP_NOT_FOUND:
            return errc::unknown_queue;
        case AMQP_PRECONDITION_FAILED:
            return errc::topology_mismatch;
        case AMQP_ACCESS_REFUSED:
        case AMQP_NOT_ALLOWED:
            return errc::invalid_argument;
        case AMQP_NOT_IMPLEMENTED:
        case AMQP_COMMAND_INVALID:
            return errc::unsupported;
        case AMQP_RESOURCE_LOCKED:
            return errc::storage_busy;
        default:
            return errc::connection_lost;
    }
}

}  // namespace shove::rabbitmq_backend
