#include "shard_record.hpp"

#include <algorithm>
#include <array>

#include "connection.hpp"
#include "wire_in.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::string_view kind_note = "x-shove-driver-record";
constexpr std::string_view fence_note = "x-shove-driver-fence";
constexpr std::string_view owner_note = "x-shove-driver-owner";
constexpr std::string_view not_before_note = "x-shove-driver-not-before";
constexpr std::string_view alone_note = "x-shove-driver-alone";
static_assert(kind_note.starts_with(wire_names::driver_prefix));

constexpr std::array<std::string_view, 9> kinds{"mark",  "owner",  "orderly",  "wait",    "suspect",
                                                "taken", "missed", "poisoned", "released"};

std::int64_t micros(wall_time when) noexcept {
    return when.time_since_epoch().count();
}

std::int64_t number_in(const amqp_field_value_t& value) noexcept {
    return value.kind == AMQP_FIELD_KIND_I64 ? value.value.i64 : 0;
}

std::string_view text_in(const amqp_field_value_t& value) noexcept {
    return value.kind == AMQP_FIELD_KIND_UTF8 ? text_of(value.value.bytes) : std::string_view();
}

void read_note(shard_record& into, bool& known, std::string_view name, const amqp_field_value_t& value) {
    if (name == kind_note) {
        const auto at = std::ranges::find(kinds, text_in(value));
        known = at != kinds.end();
        if (known) into.what = static_cast<shard_record::kind>(at - kinds.begin());
    } else if (name == fence_note) {
        into.fence = static_cast<std::uint64_t>(std::max<std::int64_t>(number_in(value), 0));
    } else if (name == owner_note) {
        into.owner = text_in(value);
    } else if (name == not_before_note) {
        into.not_before = wall_time(wall_time::duration(number_in(value)));
    } else if (name == alone_note) {
        into.alone = value.kind == AMQP_FIELD_KIND_BOOLEAN && value.value.boolean != 0;
    }
}

}  // namespace

parcel written(const shard_record& what, std::shared_ptr<const route> to, const std::vector<std::string>& texts) {
    const auto body = listed(texts);
    message_parts parts;
    parts.payload = std::as_bytes(std::span(body));
    parts.id = what.id;
    if (!what.key.empty() || what.what >= shard_record::kind::poisoned) parts.key = what.key;
    parts.published_at = what.since;
    parcel made;
    made.msg = message::make(parts);
    made.to = std::move(to);
    made.past = what.past.get();
    made.notes.add(kind_note, kinds[static_cast<std::size_t>(what.what)]);
    made.notes.add(fence_note, static_cast<std::int64_t>(what.fence));
    if (!what.owner.empty()) made.notes.add(owner_note, what.owner);
    if (what.not_before != wall_time{}) made.notes.add(not_before_note, micros(what.not_before));
    if (what.alone) made.notes.add(alone_note, true);
    return made;
}

std::optional<shard_record> read_record(const amqp_basic_properties_t& properties, std::span<const std::byte> body) {
    shard_record made;
    bool known = false;
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
        for (int i = 0; i < properties.headers.num_entries; ++i) {
            const auto& entry = properties.headers.entries[i];
            read_note(made, known, text_of(entry.key), entry.value);
        }
    }
    if (!known) return std::nullopt;
    auto read = read_message(properties, body, {});
    made.id = read.msg.id();
    made.key = read.msg.key().value_or("");
    made.since = read.msg.published_at();
    made.past = std::move(read.past);
    return made;
}

std::string listed(const std::vector<std::string>& texts) {
    std::string text;
    for (const auto& each : texts) {
        const auto part = std::string_view(each).substr(0, longest_listed);
        text.push_back(static_cast<char>(part.size()));
        text.append(part);
    }
    return text;
}

std::vector<std::string> listed_in(std::span<const std::byte> body) {
    std::vector<std::string> texts;
    while (!body.empty()) {
        const auto size = static_cast<std::size_t>(body.front());
        body = body.subspan(1);
        if (size > body.size()) break;
        texts.emplace_back(reinterpret_cast<const char*>(body.data()), size);
        body = body.subspan(size);
    }
    return texts;
}

std::string state_queue(const std::string& shard) {
    return shard + "-state";
}

std::string poison_queue(const std::string& shard) {
    return shard + "-poisoned";
}

std::string record_id(const message& msg) {
    auto id = msg.id();
    if (!id.empty()) return id;
    std::uint64_t hash = 14'695'981'039'346'656'037U;  // FNV-1a, 64 bits
    for (const auto byte : msg.payload()) {
        hash ^= static_cast<std::uint64_t>(byte);
        hash *= 1'099'511'628'211U;
    }
    return "body-" + std::to_string(hash) + "-" + std::to_string(msg.payload().size());
}

}  // namespace shove::rabbitmq_backend
