#include "admin.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "layout.hpp"
#include "message_view.hpp"
#include "record.hpp"
#include "removal.hpp"

namespace shove::kafka_backend {

namespace {

// A cursor is a partition and, behind it in the order, the offset after a record: so many bits of it.
constexpr unsigned offset_bits = 48;

std::uint64_t cursor_of(partition which, std::int64_t offset) {
    return static_cast<std::uint64_t>(which) << offset_bits | static_cast<std::uint64_t>(offset + 1);
}
partition partition_of(std::uint64_t cursor) {
    return static_cast<partition>(cursor >> offset_bits);
}
std::int64_t after_of(std::uint64_t cursor) {
    return static_cast<std::int64_t>(cursor & ((std::uint64_t{1} << offset_bits) - 1));
}

template <class Map>
std::optional<committed_offset> found(const Map& in, partition which) {
    const auto at = in.find(which);
    return at == in.end() ? std::nullopt : std::optional(at->second);
}

/// Topics beside a queue's, where its messages wait.
bool waits(const std::string& queue) {
    return std::ranges::any_of(wait_classes(), [&](const wait_class& each) {
        return queue.ends_with(retry_topic({}, each)) || queue.ends_with(later_topic({}, each));
    });
}

/// The topic of poisoned keys beside another one.
bool of_keys(const std::string& topic, const std::map<std::string, int>& all) {
    return std::ranges::any_of(all, [&](const auto& each) {
        return topic.starts_with(each.first) && topic.ends_with(keys_topic({})) && topic.size() > each.first.size();
    });
}

error missing(const std::string& queue) {
    return {errc::unknown_queue, "queue '" + queue + "' is not on this Kafka cluster; declare its topic first"};
}

}  // namespace

admin::admin(parts with) : with_(std::move(with)), names_(*with_.settings), reader_(with_.settings, with_.on) {}

void admin::list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) {
    answer<std::vector<spi::queue_info>>([this] { return list(); }, std::move(done));
}

void admin::browse(std::string queue, std::uint64_t after, std::size_t max,
                   spi::callback<void(result<std::vector<spi::browsed>>)> done) {
    answer<std::vector<spi::browsed>>([this, queue = std::move(queue), after, max] { return look(queue, after, max); },
                                      std::move(done));
}

void admin::move(std::string from, std::string to, std::vector<spi::moved> items,
                 spi::callback<void(result<std::size_t>)> done) {
    auto run = [this, from = std::move(from), to = std::move(to), items = std::move(items)] {
        std::vector<std::uint64_t> cursors;
        cursors.reserve(items.size());
        for (const auto& each : items)
            cursors.push_back(each.cursor);
        return take(from, cursors, [&](const std::set<std::uint64_t>& which) { return store(to, items, which); });
    };
    answer<std::size_t>(std::move(run), std::move(done));
}

void admin::remove(std::string queue, std::vector<std::uint64_t> cursors,
                   spi::callback<void(result<std::size_t>)> done) {
    auto run = [this, queue = std::move(queue), cursors = std::move(cursors)] {
        return take(queue, cursors, [](const std::set<std::uint64_t>&) { return error(); });
    };
    answer<std::size_t>(std::move(run), std::move(done));
}

result<std::vector<spi::queue_info>> admin::list() {
    const auto topics = with_.desk->on().topics();
    if (!topics) return topics.error();
    std::vector<spi::queue_info> made;
    for (const auto& [topic, partitions] : *topics) {
        const auto queue = names_.queue_of(topic);
        if (!queue || topic.starts_with("__") || waits(*queue) || of_keys(topic, *topics)) continue;
        auto depth = with_.count(*queue);
        if (!depth && depth.error() == errc::unknown_queue) continue;  // gone meanwhile
        if (!depth) return depth.error();
        spi::queue_info row;
        row.name = *queue;
        row.depth = *depth;
        row.dead_letter_queue = with_.dead_letters_of(*queue);
        if (row.dead_letter_queue.empty() && topics->contains(topic + "-dlq")) row.dead_letter_queue = *queue + "-dlq";
        if (!row.dead_letter_queue.empty()) {
            const auto dead = with_.count(row.dead_letter_queue);
            if (dead) row.dead = dead->ready + dead->in_flight;
        }
        made.push_back(std::move(row));
    }
    return made;
}

result<std::vector<spi::browsed>> admin::look(const std::string& queue, std::uint64_t after, std::size_t max) {
    const auto on = with_.desk->on();
    const auto found_place = with_.place_of(queue);
    if (!found_place) return found_place.error();
    const auto& place = *found_place;
    const auto count = on.partitions(place.topic);
    if (!count) return count.error();
    if (*count == 0) return missing(queue);
    const auto committed = on.committed(place.group, place.topic, *count);
    if (!committed) return committed.error();
    const auto spans = on.spans(place.topic, *count);
    if (!spans) return spans.error();
    std::vector<spi::browsed> made;
    for (partition i = after == 0 ? 0 : partition_of(after); i < *count && made.size() < max; ++i) {
        if (!place.has(i)) continue;
        const auto& span = (*spans)[static_cast<std::size_t>(i)];
        const open_records open(found(*committed, i), span.low);
        const bool begun = after != 0 && i == partition_of(after);
        const auto from = begun ? std::max(open.first(), after_of(after)) : open.first();
        const auto show = [&](const rd_kafka_message_t& record) {
            if (!open(record.offset)) return true;
            auto read = read_record(view_of(record), place.dead);
            made.push_back({cursor_of(i, record.offset), std::move(read.msg), std::move(read.past)});
            return made.size() < max;
        };
        if (auto cause = reader_.read(place.topic, i, from, span.high, show)) return cause;
    }
    return made;
}

result<std::size_t> admin::take(const std::string& queue, const std::vector<std::uint64_t>& cursors,
                                const std::function<error(const std::set<std::uint64_t>&)>& before) {
    const auto on = with_.desk->on();
    const auto found_place = with_.place_of(queue);
    if (!found_place) return found_place.error();
    const auto& place = *found_place;
    const auto count = on.partitions(place.topic);
    if (!count) return count.error();
    if (*count == 0) return missing(queue);
    const auto members = on.members(place.group);
    if (!members) return members.error();
    if (*members > 0)
        return error(errc::storage_busy, "queue '" + queue + "': group '" + place.group + "' has " +
                                             std::to_string(*members) +
                                             " members, which commit by themselves; stop its consumers first");
    const auto committed = on.committed(place.group, place.topic, *count);
    if (!committed) return committed.error();
    const auto spans = on.spans(place.topic, *count);
    if (!spans) return spans.error();
    std::map<partition, std::set<std::int64_t>> wanted;
    for (const auto cursor : cursors) {
        const auto which = partition_of(cursor);
        const auto offset = after_of(cursor) - 1;
        if (which >= *count || !place.has(which)) continue;
        const auto& span = (*spans)[static_cast<std::size_t>(which)];
        if (offset >= span.low && offset < span.high) wanted[which].insert(offset);
    }
    std::map<partition, committed_offset> commits;
    std::set<std::uint64_t> taken;
    for (const auto& [which, offsets] : wanted) {
        auto step = settle_away(found(*committed, which), (*spans)[static_cast<std::size_t>(which)].low, offsets);
        for (const auto offset : step.offsets)
            taken.insert(cursor_of(which, offset));
        if (!step.offsets.empty()) commits.emplace(which, std::move(step.commit));
    }
    if (taken.empty()) return std::size_t{0};
    if (auto cause = before(taken)) return cause;
    if (auto cause = on.commit(place.group, place.topic, commits)) return cause;
    return taken.size();
}

error admin::store(const std::string& queue, const std::vector<spi::moved>& items,
                   const std::set<std::uint64_t>& which) {
    const auto found_place = with_.place_of(queue);
    if (!found_place) return found_place.error();
    const auto& place = *found_place;
    const auto there = with_.desk->on().partitions(place.topic);
    if (!there) return there.error();
    if (*there == 0) return missing(queue);
    const auto topic = std::make_shared<const std::string>(place.topic);
    std::vector<parcel> parcels;
    for (const auto& each : items) {
        if (!which.contains(each.cursor)) continue;
        auto& one = parcels.emplace_back();
        one.msg = each.copy;
        one.topic = topic;
    }
    return send(std::move(parcels));
}

error admin::send(std::vector<parcel> parcels) {
    shipment sent;
    sent.deadline = std::chrono::steady_clock::now() + with_.settings->connect_timeout;
    sent.parcels = std::move(parcels);
    std::promise<std::vector<spi::publish_result>> told;
    sent.done = [&told](std::vector<spi::publish_result> results) { told.set_value(std::move(results)); };
    with_.publishing->post(std::move(sent));
    for (const auto& each : told.get_future().get()) {
        if (each.status != spi::publish_status::ok) return each.cause;
    }
    return {};
}

}  // namespace shove::kafka_backend
