#include "message_view.hpp"

#include <optional>
#include <span>

namespace shove::kafka_backend {

record_view view_of(const rd_kafka_message_t& from) {
    record_view made;
    if (from.key != nullptr) made.key.emplace(static_cast<const char*>(from.key), from.key_len);
    made.value = std::span(static_cast<const std::byte*>(from.payload), from.payload == nullptr ? 0 : from.len);
    rd_kafka_timestamp_type_t kind{};
    const auto when = rd_kafka_message_timestamp(&from, &kind);
    if (kind != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) made.timestamp_ms = when;
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&from, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return made;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
        auto& one = made.headers.emplace_back(record_header{name, std::nullopt});
        if (value != nullptr) one.value.emplace(static_cast<const char*>(value), size);
    }
    return made;
}

}  // namespace shove::kafka_backend
