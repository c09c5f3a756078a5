#include "kafka_client.hpp"

#include <array>
#include <stdexcept>

namespace shove::bench {

namespace {

void check_topics(rd_kafka_event_t* answer, const rd_kafka_topic_result_t** results, std::size_t count) {
    std::string wrong;
    if (rd_kafka_event_error(answer) != RD_KAFKA_RESP_ERR_NO_ERROR) wrong = rd_kafka_event_error_string(answer);
    for (std::size_t i = 0; i < count; ++i)
        if (rd_kafka_topic_result_error(results[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
            wrong = rd_kafka_topic_result_error_string(results[i]);
    rd_kafka_event_destroy(answer);
    if (!wrong.empty()) throw std::runtime_error(wrong);
}

rd_kafka_event_t* await(rd_kafka_queue_t* queue) {
    auto* answer = rd_kafka_queue_poll(queue, 30'000);
    if (answer == nullptr) throw std::runtime_error("no answer within 30 s");
    return answer;
}

}  // namespace

kafka_client make_kafka_client(rd_kafka_type_t type, const std::string& brokers, kafka_settings settings) {
    std::array<char, 512> wrong{};
    auto* conf = rd_kafka_conf_new();
    const auto set = [&](const char* name, const char* value) {
        if (rd_kafka_conf_set(conf, name, value, wrong.data(), wrong.size()) == RD_KAFKA_CONF_OK) return;
        rd_kafka_conf_destroy(conf);
        throw std::runtime_error(wrong.data());
    };
    set("bootstrap.servers", brokers.c_str());
    for (const auto& [name, value] : settings)
        set(name, value);
    if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR);
    kafka_client client(rd_kafka_new(type, conf, wrong.data(), wrong.size()));
    if (client) return client;
    rd_kafka_conf_destroy(conf);  // it is the client's only once that is made
    throw std::runtime_error(wrong.data());
}

void create_topic(rd_kafka_t* client, const std::string& topic, int partitions) {
    const kafka_queue queue(rd_kafka_queue_new(client));
    auto* made = rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, nullptr, 0);
    rd_kafka_CreateTopics(client, &made, 1, nullptr, queue.get());
    rd_kafka_NewTopic_destroy(made);
    auto* answer = await(queue.get());
    std::size_t count = 0;
    const auto** results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer), &count);
    check_topics(answer, results, count);
}

void delete_topic(rd_kafka_t* client, const std::string& topic) {
    const kafka_queue queue(rd_kafka_queue_new(client));
    auto* gone = rd_kafka_DeleteTopic_new(topic.c_str());
    rd_kafka_DeleteTopics(client, &gone, 1, nullptr, queue.get());
    rd_kafka_DeleteTopic_destroy(gone);
    auto* answer = await(queue.get());
    std::size_t count = 0;
    const auto** results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(answer), &count);
    check_topics(answer, results, count);
}

std::string kafka_brokers(std::string_view url) {
    if (const auto scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
    return std::string(url.substr(0, url.find_first_of("/?")));
}

}  // namespace shove::bench
