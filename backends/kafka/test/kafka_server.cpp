#include "kafka_server.hpp"

#include <shove/kafka.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "cluster.hpp"

namespace shove::kafka_test {

using namespace kafka_backend;

namespace {

constexpr int patience_ms = 20'000;

void expect(const error& cause) {
    if (cause) throw testkit::broker_error("Kafka of the tests: " + cause.message());
}

template <class T>
T expect(result<T> answer) {
    if (!answer) expect(answer.error());
    return std::move(*answer);
}

std::string text_of(const void* bytes, std::size_t size) {
    return bytes ? std::string(static_cast<const char*>(bytes), size) : std::string();
}

record record_of(const rd_kafka_message_t& from) {
    record made;
    made.partition = from.partition;
    made.offset = from.offset;
    made.has_key = from.key != nullptr;
    made.key = text_of(from.key, from.key_len);
    made.value = text_of(from.payload, from.len);
    made.timestamp_ms = rd_kafka_message_timestamp(&from, nullptr);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&from, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return made;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i)
        made.headers.emplace_back(name, text_of(value, size));
    return made;
}

}  // namespace

/// Two clients of librdkafka, served by whoever waits.
class kafka_server::client {
public:
    explicit client(const std::string& url)
        : settings_(std::make_shared<const kafka::config>(kafka::parse(url).value())) {}

    cluster asking() {
        if (!reading_) reading_ = expect(handle::make(settings_, role::asking, {}, on_));
        return {reading_->get(), patience_ms};
    }
    rd_kafka_t* producing() {
        if (!writing_) writing_ = expect(handle::make(settings_, role::producing, {}, on_));
        return writing_->get();
    }
    const std::shared_ptr<const kafka::config>& settings() const noexcept { return settings_; }
    const std::shared_ptr<loop>& on() const noexcept { return on_; }

private:
    std::shared_ptr<const kafka::config> settings_;
    std::shared_ptr<loop> on_ = std::make_shared<loop>();
    std::shared_ptr<handle> reading_;
    std::shared_ptr<handle> writing_;
};

kafka_server::kafka_server(std::string name)
    : broker_(std::move(name)), client_(std::make_unique<client>(broker_.address())) {}

kafka_server::~kafka_server() = default;

std::uint16_t kafka_server::port(std::string_view of) const {
    const auto address = url(of);
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

std::vector<std::string> kafka_server::topics(std::string_view prefix) const {
    std::vector<std::string> made;
    for (const auto& [name, partitions] : expect(client_->asking().topics())) {
        if (name.starts_with(prefix)) made.push_back(name);
    }
    return made;
}

void kafka_server::make_topic(const std::string& name, int count,
                              const std::map<std::string, std::string>& with) const {
    expect(client_->asking().make({{name, count, 1, with}}));
}

void kafka_server::delete_topics(const std::vector<std::string>& names) const {
    expect(client_->asking().remove(names));
}

std::map<std::string, std::string> kafka_server::entries(const std::string& topic) const {
    std::map<std::string, std::string> made;
    for (const auto& [key, entry] : expect(client_->asking().entries(topic))) {
        if (entry.own) made.emplace(key, entry.value);
    }
    return made;
}

int kafka_server::partitions(const std::string& topic) const {
    return expect(client_->asking().partitions(topic));
}

void kafka_server::put(const std::string& topic, const std::vector<record>& what) const {
    auto* to = client_->producing();
    for (const auto& each : what) {
        auto* headers = rd_kafka_headers_new(each.headers.size());
        for (const auto& [name, value] : each.headers)
            rd_kafka_header_add(headers, name.c_str(), -1, value.data(), static_cast<ssize_t>(value.size()));
        std::array<rd_kafka_vu_t, 7> given{};
        std::size_t count = 0;
        const auto add = [&](rd_kafka_vtype_t type) -> auto& {
            given[count].vtype = type;
            return given[count++].u;
        };
        add(RD_KAFKA_VTYPE_TOPIC).cstr = topic.c_str();
        add(RD_KAFKA_VTYPE_PARTITION).i32 = each.partition;
        add(RD_KAFKA_VTYPE_MSGFLAGS).i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
        add(RD_KAFKA_VTYPE_KEY).mem = {each.has_key ? const_cast<char*>(each.key.data()) : nullptr, each.key.size()};
        add(RD_KAFKA_VTYPE_VALUE).mem = {const_cast<char*>(each.value.data()), each.value.size()};
        add(RD_KAFKA_VTYPE_HEADERS).headers = headers;
        add(RD_KAFKA_VTYPE_TIMESTAMP).i64 = each.timestamp_ms;
        const std::unique_ptr<rd_kafka_error_t, decltype(&rd_kafka_error_destroy)> refused(
            rd_kafka_produceva(to, given.data(), count), rd_kafka_error_destroy);
        const auto code = refused ? rd_kafka_error_code(refused.get()) : RD_KAFKA_RESP_ERR_NO_ERROR;
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
        expect(error_of(code, "put into " + topic));
    }
    const owned_queue reports(rd_kafka_queue_get_main(to));
    for (std::size_t stored = 0; stored < what.size();) {
        const owned_event told(rd_kafka_queue_poll(reports.get(), patience_ms));
        if (!told) throw testkit::broker_error("put into " + topic + ": no answer");
        if (rd_kafka_event_type(told.get()) != RD_KAFKA_EVENT_DR) continue;
        while (const auto* report = rd_kafka_event_message_next(told.get())) {
            expect(error_of(report->err, "put into " + topic));
            ++stored;
        }
    }
}

std::vector<record> kafka_server::all(const std::string& topic) const {
    const auto asking = client_->asking();
    const auto spans = expect(asking.spans(topic, expect(asking.partitions(topic))));
    auto reader = expect(handle::make(client_->settings(), role::consuming, {}, client_->on()));
    auto* from = reader->get();
    rd_kafka_poll_set_consumer(from);
    const owned_partitions list(rd_kafka_topic_partition_list_new(1));
    std::vector<record> made;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (spans[i].low == spans[i].high) continue;
        rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), static_cast<partition>(i))->offset = spans[i].low;
        ++wanted;
    }
    if (wanted == 0) return made;
    expect(error_of(rd_kafka_assign(from, list.get()), "read " + topic));
    std::vector<std::int64_t> next(spans.size(), 0);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
    const auto missing = [&] {
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if (spans[i].low != spans[i].high && next[i] < spans[i].high) return true;
        }
        return false;
    };
    while (missing()) {
        if (std::chrono::steady_clock::now() > until) throw testkit::broker_error("topic " + topic + " does not end");
        auto* got = rd_kafka_consumer_poll(from, 50);
        if (got && got->err == RD_KAFKA_RESP_ERR_NO_ERROR) made.push_back(record_of(*got));
        if (got) rd_kafka_message_destroy(got);
        // Past markers of transactions and what was compacted away.
        const owned_partitions at(rd_kafka_topic_partition_list_copy(list.get()));
        expect(error_of(rd_kafka_position(from, at.get()), "read " + topic));
        for (int i = 0; i < at->cnt; ++i)
            next[static_cast<std::size_t>(at->elems[i].partition)] = at->elems[i].offset;
        if (!got && !made.empty() && std::chrono::steady_clock::now() + std::chrono::seconds(18) > until) break;
    }
    std::ranges::sort(made, {}, [](const record& r) { return std::pair(r.partition, r.offset); });
    return made;
}

std::map<std::int32_t, std::int64_t> kafka_server::committed(const std::string& group, const std::string& topic) const {
    const auto asking = client_->asking();
    std::map<std::int32_t, std::int64_t> made;
    for (const auto& [which, what] : expect(asking.committed(group, topic, expect(asking.partitions(topic)))))
        made.emplace(which, what.offset);
    return made;
}

kafka_faults::kafka_faults() : kafka_server("kafka-faults") {
    broker_.restore();
}

own_topics::own_topics(const kafka_server& on) : server_(on) {
    static std::atomic<unsigned> count = 0;
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    prefix_ = "t" + std::to_string(::getpid()) + "-" + std::to_string(now) + "-" + std::to_string(++count) + ".";
}

own_topics::~own_topics() {
    try {
        server_.delete_topics(server_.topics(prefix_));
    } catch (const testkit::broker_error&) {
        // The test has left its server down; nobody asks for this name.
    }
}

}  // namespace shove::kafka_test
