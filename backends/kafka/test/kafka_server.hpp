#pragma once

#include <shove/testkit/real_broker.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::kafka_test {

/// What a test puts into a topic by hand, or finds there.
struct record {
    std::int32_t partition = -1;  ///< Put: -1: where its key belongs.
    std::int64_t offset = -1;
    std::string key{};
    bool has_key = false;
    std::string value{};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::int64_t timestamp_ms = 0;
};

/// The Kafka that tests share, each with topics of its own. They may not stop or slow it.
class kafka_server {
public:
    kafka_server() : kafka_server("kafka") {}
    kafka_server(const kafka_server&) = delete;
    kafka_server& operator=(const kafka_server&) = delete;
    virtual ~kafka_server();

    /// `kafka://127.0.0.1:PORT`; of `SASL`, `SASL_TLS`, `TLS`, `PROXIED`: that listener's.
    std::string url(std::string_view of = {}) const { return broker_.address(of); }
    /// The port of a listener, as in `url`.
    std::uint16_t port(std::string_view of = {}) const;
    /// Where a proxy of the test listens (`tcp_proxy(port("PROXIED"), proxy_port())`): clients that come through it
    /// stay behind it, `kafka://127.0.0.1:` + this. One test at a time.
    std::uint16_t proxy_port() const { return port("PROXY"); }

    // By a client of its own, for tests.

    /// All topics whose names begin so.
    std::vector<std::string> topics(std::string_view prefix) const;
    /// Makes a topic, and waits until it can be used.
    void make_topic(const std::string& name, int partitions = 1,
                    const std::map<std::string, std::string>& entries = {}) const;
    void delete_topics(const std::vector<std::string>& names) const;
    /// Configuration entries of a topic that were set on it.
    std::map<std::string, std::string> entries(const std::string& topic) const;
    int partitions(const std::string& topic) const;
    /// Stores records in order, and waits until they are.
    void put(const std::string& topic, const std::vector<record>& what) const;
    /// All records of a topic, by partition and offset.
    std::vector<record> all(const std::string& topic) const;
    /// Committed offsets of a group by partition; those without one are left out.
    std::map<std::int32_t, std::int64_t> committed(const std::string& group, const std::string& topic) const;

protected:
    explicit kafka_server(std::string name);
    testkit::real_broker broker_;

private:
    class client;
    std::unique_ptr<client> client_;
};

/// The Kafka that a test may break. Its constructor brings it to order. Tests that use it have `LOCK kafka-faults` in
/// CMake, so that one runs at a time.
class kafka_faults : public kafka_server {
public:
    kafka_faults();
    /// SIGKILL. What was confirmed outlives it.
    void kill() const { broker_.kill(); }
    /// Starts it unless it runs; returns when it serves: about 10 seconds.
    void up() const { broker_.up(); }
    void restart() const {
        kill();
        up();
    }
    /// SIGSTOP: connections stay open, and nothing answers.
    void pause() const { broker_.pause(); }
    void resume() const { broker_.resume(); }
};

/// A prefix that no other test uses, of this process or another: for `config::prefix`. The destructor deletes all
/// topics that begin with it.
class own_topics {
public:
    explicit own_topics(const kafka_server& on);
    own_topics(const own_topics&) = delete;
    own_topics& operator=(const own_topics&) = delete;
    ~own_topics();

    const std::string& prefix() const noexcept { return prefix_; }
    /// The topic of a queue.
    std::string name(std::string_view of) const { return prefix_ + std::string(of); }
    /// `kafka://127.0.0.1:PORT?prefix=…`, with more options.
    std::string url(const std::string& options = {}) const { return server_.url() + "?prefix=" + prefix_ + options; }

private:
    const kafka_server& server_;
    std::string prefix_;
};

}  // namespace shove::kafka_test
