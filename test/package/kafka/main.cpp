// A program of an outside project that uses Kafka. Where it runs is no server, and it must notice.
#include <shove/kafka.hpp>
#include <shove/shove.hpp>

#include <boost/describe.hpp>

#include <chrono>
#include <cstdio>
#include <string>

struct note {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(note, (), (text))

struct notes : shove::topic<note> {
    static constexpr auto topology = shove::topology("notes").hold(std::chrono::milliseconds(10)).dlq();
};

int main() {
    auto settings = shove::kafka::parse("kafka://localhost:1");
    if (!settings) return std::puts(settings.error().message().c_str()), 1;
    shove::broker<shove::kafka> broker{*settings};
    const auto stored = broker.publisher().try_publish<notes>({"hello"}, {.timeout = std::chrono::milliseconds(500)});
    std::puts(stored ? "stored where nothing is" : stored.error().message().c_str());
    return stored ? 1 : 0;
}
