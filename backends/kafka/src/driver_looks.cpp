#include <algorithm>
#include <charconv>
#include <utility>

#include "check_config.hpp"
#include "driver.hpp"

namespace shove::kafka_backend {

namespace {

/// What is left until a deadline, for librdkafka.
int left_until(steady_time deadline, int most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 1, most));
}

/// `{queue}-seq-{number}`, taken apart; nothing: it is called otherwise.
std::optional<std::pair<std::string, std::uint16_t>> shard_name(const std::string& queue) {
    constexpr std::string_view mark = "-seq-";
    const auto at = queue.rfind(mark);
    if (at == queue.npos || at == 0) return std::nullopt;
    const auto* begin = queue.data() + at + mark.size();
    const auto* end = queue.data() + queue.size();
    std::uint16_t number = 0;
    const auto [read, failed] = std::from_chars(begin, end, number);
    if (begin == end || read != end || failed != std::errc()) return std::nullopt;
    return std::pair(queue.substr(0, at), number);
}

}  // namespace

result<driver::counted_place> driver::place_of(const std::string& queue) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = places_.find(queue); found != places_.end()) return found->second;
    }
    const auto on = desk_->on();
    counted_place made;
    made.topic = names_.topic_of(queue);
    made.group = made.topic + "-consumer";
    made.dead = queue.ends_with("-dlq");
    auto partitions = on.partitions(made.topic);
    if (!partitions) return partitions.error();
    const auto shard = shard_name(queue);
    if (*partitions == 0 && shard) {
        const auto topic = names_.topic_of(shard->first);
        partitions = on.partitions(topic);
        if (!partitions) return partitions.error();
        if (shard->second >= *partitions) return made;
        made.topic = topic;
        made.group = topic + "-fifo";
        made.shard = shard->second;
        made.shards = static_cast<std::uint16_t>(*partitions);
        return made;
    }
    // A sequenced topic is known by the group that reads it.
    const auto fifo = made.topic + "-fifo";
    const auto read = on.committed(fifo, made.topic, *partitions);
    if (!read) return read.error();
    if (!read->empty()) made.group = fifo;
    return made;
}

std::unique_ptr<kafka_backend::admin> driver::make_admin() {
    kafka_backend::admin::parts with;
    with.settings = shared_.settings;
    with.on = shared_.on;
    with.desk = desk_;
    with.publishing = publishing_;
    with.place_of = [this](const std::string& queue) -> result<queue_place> {
        const auto place = place_of(queue);
        if (!place) return place.error();
        return queue_place{place->topic, place->group, place->shard, place->shards, place->dead};
    };
    with.count = [this](const std::string& queue) { return count(queue); };
    with.dead_letters_of = [this](const std::string& queue) {
        const auto known = topologies_->find(queue);
        return known && known->dead_letter_queue != queue ? known->dead_letter_queue : std::string();
    };
    return std::make_unique<kafka_backend::admin>(std::move(with));
}

void driver::ping(steady_time deadline, spi::callback<void(error)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto look = [asking = shared_.asking, deadline, answer](rd_kafka_t* client) {
        const rd_kafka_metadata_t* all = nullptr;
        const auto code = rd_kafka_metadata(client, 0, nullptr, &all, left_until(deadline, asking->patience()));
        if (all) rd_kafka_metadata_destroy(all);
        (*answer)(asking->explained(error_of(code, "no answer from Kafka at " + servers_text(asking->settings()))));
    };
    shared_.asking->ask(std::move(look), [answer](const error& why) { (*answer)(why); });
}

void driver::describe(spi::callback<void(result<spi::description>)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto look = [asking = shared_.asking, answer](rd_kafka_t* client) {
        const rd_kafka_metadata_t* all = nullptr;
        const auto code = rd_kafka_metadata(client, 0, nullptr, &all, asking->patience());
        const auto& settings = asking->settings();
        if (auto cause = error_of(code, "no answer from Kafka at " + servers_text(settings)))
            return (*answer)(asking->explained(std::move(cause)));
        std::string brokers;
        for (int i = 0; i < all->broker_cnt; ++i)
            brokers.append(brokers.empty() ? "" : ", ")
                .append(all->brokers[i].host)
                .append(":" + std::to_string(all->brokers[i].port));
        rd_kafka_metadata_destroy(all);
        spi::description told;
        told.facts = {{"librdkafka", rd_kafka_version_str()}, {"brokers", brokers}};
        // Known from the answer above.
        if (char* cluster = rd_kafka_clusterid(client, 0)) {
            told.facts.push_back({"cluster", cluster});
            rd_kafka_mem_free(client, cluster);
        }
        told.facts.push_back({"prefix", settings.prefix.empty() ? "none" : settings.prefix});
        told.facts.push_back({"TLS", settings.tls ? "on" : "off"});
        (*answer)(std::move(told));
    };
    shared_.asking->ask(std::move(look), [answer](const error& why) { (*answer)(why); });
}

}  // namespace shove::kafka_backend
