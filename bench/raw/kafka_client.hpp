#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace shove::bench {

struct kafka_end {
    void operator()(rd_kafka_t* client) const noexcept { rd_kafka_destroy(client); }
    void operator()(rd_kafka_queue_t* queue) const noexcept { rd_kafka_queue_destroy(queue); }
};
using kafka_client = std::unique_ptr<rd_kafka_t, kafka_end>;
using kafka_queue = std::unique_ptr<rd_kafka_queue_t, kafka_end>;

using kafka_settings = std::initializer_list<std::pair<const char*, const char*>>;

/// A client of that kind with those settings; throws what librdkafka says.
kafka_client make_kafka_client(rd_kafka_type_t type, const std::string& brokers, kafka_settings settings);

/// Makes a topic with these partitions, or removes it, and waits until it is done.
void create_topic(rd_kafka_t* client, const std::string& topic, int partitions);
void delete_topic(rd_kafka_t* client, const std::string& topic);

/// The addresses in `kafka://HOST:PORT,HOST:PORT?...`.
std::string kafka_brokers(std::string_view url);

}  // namespace shove::bench
