#pragma once

#include "../database.hpp"
#include "sealer.hpp"
#include "topics.hpp"

#include <shove/lease_message.hpp>
#include <shove/spi/lease_port.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shove::sqlite_backend::lease {

/// The retained messages of a namespace, and their keys. Each read and each write goes through the sealer.
class message_log {
public:
    message_log(database& db, sealer& seal, std::string name_space);

    /// A message that is retained under a key.
    struct known {
        message_id id;
        spi::fingerprint content{};
        std::int64_t published_at_ms = 0;
    };
    std::optional<known> by_key(const topic_state& topic, std::string_view topic_name, std::string_view key);
    /// Stores it as row `row`; gives the bytes that its content takes. An error is noted in the database.
    std::int64_t insert(std::int64_t row, const message_id& id, std::int64_t now_ms, const spi::lease_publish& what,
                        std::string_view topic_name, std::uint64_t sequence);

    /// What a step of `rekey` has done.
    struct resealed {
        std::size_t records = 0;
        std::int64_t last = 0;    ///< The last row of them.
        std::int64_t growth = 0;  ///< Bytes that content takes more.
    };
    /// Seals anew the first rows after one that another key has sealed, at most so many.
    resealed rekey(const topic_state& topic, std::string_view topic_name, std::int64_t after, std::string_view key,
                   std::size_t most);

    using envelope = std::shared_ptr<const lease_envelope>;
    /// The message of a row; null, with the reason noted in the database, if it is not there or damaged.
    envelope read(const topic_state& topic, const std::string& topic_name, std::int64_t row);
    /// The rows after one and up to another, at most so many.
    std::vector<std::int64_t> rows_between(std::int64_t after, std::int64_t last, std::size_t most);
    std::int64_t count(std::int64_t after, std::int64_t last);
    /// The first row in a range that was published at or after a time.
    std::optional<std::int64_t> first_since(std::int64_t after, std::int64_t last, std::int64_t ms);
    /// When the first one of a range was published.
    std::optional<std::int64_t> oldest(std::int64_t after, std::int64_t last);

    /// What may be removed of a range.
    struct purgeable {
        std::int64_t row = 0;
        std::int64_t bytes = 0;
        std::string key;
        std::int64_t published_at_ms = 0;
        bool held = false;  ///< Some group waits for it, holds it, or keeps it as a dead letter.
    };
    /// The first rows that no group of the topic waits for or holds.
    std::vector<purgeable> finished(const topic_state& topic, std::int64_t last, std::size_t most);
    /// The first rows, whatever holds them.
    std::vector<purgeable> window(const topic_state& topic, std::int64_t after, std::int64_t last, std::size_t most);
    void remove(std::string_view topic_name, const purgeable& what);

    /// One stored record of each key that sealed any, for the sealer's proof. `topics` must outlive the answer.
    struct sample {
        std::string topic;
        std::string id;
        std::string event_kind;
        std::string content_type;
        std::string blob;
        std::int64_t sequence = 0;
        std::int64_t published_at_ms = 0;
    };
    static std::vector<sample> samples(database& db, std::int64_t space);

private:
    database* db_;
    sealer* seal_;
    const std::string name_space_;
    statement insert_;
    statement insert_key_;
    statement candidates_;
    statement read_;
    statement rows_;
    statement count_;
    statement first_since_;
    statement oldest_;
    statement finished_;
    statement window_;
    statement remove_;
    statement remove_key_;
    statement sealed_by_others_;
    statement reseal_;
};

/// The bytes of an id or a token as a statement takes them.
inline blob_view as_blob(const std::array<std::byte, 16>& bytes) {
    return {bytes.data(), bytes.size()};
}
/// Reads 16 bytes; nothing if there are not just as many.
std::optional<std::array<std::byte, 16>> read_16(blob_view from);

}  // namespace shove::sqlite_backend::lease
