#include <charconv>
#include <string_view>

#include "admin.hpp"
#include "layout.hpp"

namespace shove::kafka_backend {

namespace {

/// `orders` of `orders-seq-3`: what comes before the shard's number.
std::string without_shard(const std::string& queue) {
    return queue.substr(0, queue.rfind("-seq-"));
}

}  // namespace

void admin::list_keys(std::vector<std::string> queues,
                      spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) {
    answer<std::vector<spi::poisoned_key>>([this, queues = std::move(queues)] { return keys_in(queues); },
                                           std::move(done));
}

void admin::release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) {
    auto run = [this, place = without_shard(queue), key = std::move(key)] { return release(place, key); };
    answer<std::size_t>(std::move(run), std::move(done));
}

result<std::map<std::string, wall_time>> admin::keys_of(const std::string& place) {
    const auto topic = names_.topic_of(keys_topic(place));
    const auto on = with_.desk->on();
    std::map<std::string, wall_time> made;
    const auto there = on.partitions(topic);
    if (!there) return there.error();
    if (*there == 0) return made;
    const auto spans = on.spans(topic, 1);
    if (!spans) return spans.error();
    const auto take = [&](const rd_kafka_message_t& record) {
        if (!record.key) return true;
        std::string key(static_cast<const char*>(record.key), record.key_len);
        const std::string_view text(static_cast<const char*>(record.payload), record.payload ? record.len : 0);
        std::int64_t since = 0;
        std::from_chars(text.data(), text.data() + text.size(), since);
        made[key] = wall_time(std::chrono::microseconds(since));
        if (!record.payload) made.erase(key);
        return true;
    };
    if (auto cause = reader_.read(topic, 0, spans->front().low, spans->front().high, take)) return cause;
    return made;
}

result<std::vector<spi::poisoned_key>> admin::keys_in(const std::vector<std::string>& queues) {
    std::map<std::string, sequencing> places;
    for (const auto& queue : queues)
        places[without_shard(queue)].shard_queues.push_back(queue);
    std::vector<spi::poisoned_key> made;
    for (const auto& [place, shards] : places) {
        const auto keys = keys_of(place);
        if (!keys) return keys.error();
        for (const auto& [key, since] : *keys)
            made.push_back({shards.shard_queues[shards.shard_of(key)], key, since});
    }
    return made;
}

result<std::size_t> admin::release(const std::string& place, const std::string& key) {
    const auto keys = keys_of(place);
    if (!keys) return keys.error();
    if (!keys->contains(key)) return std::size_t{0};
    message_parts about;
    about.key = key;
    std::vector<parcel> one(1);
    one[0].msg = message::make(about);
    one[0].topic = std::make_shared<const std::string>(names_.topic_of(keys_topic(place)));
    one[0].partition = 0;
    one[0].tombstone = true;
    if (auto cause = send(std::move(one))) return cause;
    return std::size_t{1};
}

}  // namespace shove::kafka_backend
