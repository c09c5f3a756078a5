#include "messages.hpp"
#include "space.hpp"

#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

/// A row as it was read; what it points to goes with the next step of the statement.
struct sealed_row {
    std::int64_t row = 0;
    std::string id, event_kind, content_type, blob;
    std::int64_t published_at_ms = 0;
};

std::vector<sealed_row> take(database& db, statement::rows rows) {
    std::vector<sealed_row> found;
    while (rows.next()) {
        const auto id = read_16(rows.blob(1));
        if (!id) {
            db.fail(damaged(db, "message identifier"));
            break;
        }
        const auto blob = rows.blob(5);
        found.push_back({rows.number(0), message_id(*id).text(), std::string(rows.text(2)), std::string(rows.text(3)),
                         std::string(reinterpret_cast<const char*>(blob.data()), blob.size()), rows.number(4)});
    }
    return found;
}

}  // namespace

message_log::resealed message_log::rekey(const topic_state& topic, std::string_view topic_name, std::int64_t after,
                                         std::string_view key, std::size_t most) {
    resealed done{0, after, 0};
    for (const auto& each : take(*db_, sealed_by_others_.query(after, topic.tail, key, most))) {
        const record_identity of{name_space_,
                                 topic_name,
                                 static_cast<std::int64_t>(topic.sequence_of(each.row)),
                                 each.id,
                                 each.event_kind,
                                 each.content_type,
                                 each.published_at_ms};
        auto clear = seal_->open(of, each.blob);
        const auto stored = clear ? seal_->seal(of, std::move(*clear)) : clear.error();
        if (!stored) {
            db_->fail(stored.error());
            break;
        }
        expect_one(*db_, reseal_.run(each.row, std::string_view(stored->key), std::as_bytes(std::span(stored->blob))),
                   "a sealed record");
        ++done.records;
        done.last = each.row;
        done.growth += static_cast<std::int64_t>(stored->blob.size()) - static_cast<std::int64_t>(each.blob.size());
    }
    return done;
}

}  // namespace shove::sqlite_backend::lease
