#pragma once

#include <shove/spi/delivery.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shove::kafka_backend {

/// A header of a record: a name, and bytes or null.
struct record_header {
    std::string_view name;
    std::optional<std::string_view> value;
};

/// A record as the client library shows it; views into its memory.
struct record_view {
    std::optional<std::string_view> key;
    std::span<const std::byte> value;
    std::vector<record_header> headers;
    std::optional<std::int64_t> timestamp_ms;  ///< Since the epoch.
};

/// What a record is to us.
struct incoming {
    message msg;
    std::unique_ptr<spi::history> past;
    wall_time due{};  ///< Of a copy that waits.
};

/// Reads a record. Nothing in it is an error: what makes no sense as one of our headers is one of the other client's.
/// @param dead_letter_queue  Its topic is one.
incoming read_record(const record_view& from, bool dead_letter_queue);

/// The headers of a message on the wire.
class written_headers {
public:
    /// @param past  May be null.
    /// @param due   Of a copy that waits; the epoch: none.
    written_headers(const message& msg, const spi::history* past, wall_time due);
    const std::vector<record_header>& list() const noexcept { return list_; }

private:
    void add(std::string_view name, std::string_view value) { list_.push_back({name, keep(value)}); }
    void add_number(std::string_view name, std::int64_t number);
    void add_time(std::string_view name, wall_time when);
    void add_past(const spi::history& past);
    void add_users(const headers_view& headers);
    std::string_view keep(std::string_view text);

    std::vector<record_header> list_;
    std::vector<std::unique_ptr<std::string>> kept_;
};

}  // namespace shove::kafka_backend
