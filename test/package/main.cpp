// A program of an outside project: publishes one message and consumes it.
#include <shove/open.hpp>
#include <shove/shove.hpp>
#include <shove/sqlite.hpp>

#include <boost/describe.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stop_token>
#include <string>

struct note {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(note, (), (text))

struct notes : shove::topic<note> {
    static constexpr auto topology = shove::topology("notes").hold(std::chrono::milliseconds(10)).dlq();
};

/// Whether one message makes its way through the broker.
template <class Broker>
bool passes(Broker broker) {
    broker.template declare<notes>();
    broker.publisher().template publish<notes>({"hello"});

    std::stop_source stop;
    std::atomic<bool> arrived = false;
    auto group = broker.consumer_group();
    group.template add<notes>([&](const note& got) {
        arrived = got.text == "hello";
        stop.request_stop();
        return shove::ack;
    });
    group.run_until(stop.get_token(), std::chrono::seconds(10));
    return arrived;
}

int main() {
    std::filesystem::remove("notes.db");
    const bool ok = passes(shove::broker<shove::sqlite>{{.path = "notes.db"}}) && passes(shove::open("memory:"));
    std::puts(ok ? "consumed" : "lost");
    return ok ? 0 : 1;
}
