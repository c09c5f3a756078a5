// The backend is a URL, known only at run time; errors come as values.
//   07_open_by_url [URL=memory:]          for example sqlite:notes.db or amqp://localhost
#include <shove/open.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct note {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(note, (), (text))

struct notes : shove::topic<note> {
    static constexpr auto topology = shove::topology("notes").hold(1s).dlq();
};

int run(const char* url) {
    auto broker = shove::open(url);
    const auto& can = broker.capabilities();
    const std::string backend(can.backend);
    std::printf("%s: durable %s, shared by processes %s\n", backend.c_str(), can.durable ? "yes" : "no",
                can.several_processes ? "yes" : "no");
    const auto answer = broker.ping(1s);
    std::printf("ping: %s\n", answer ? "ok" : answer.error().message().c_str());

    broker.declare<notes>();
    broker.publisher().publish<notes>({"written by way of a URL"});
    std::latch handled(1);
    auto group = broker.consumer_group();
    group.add<notes>([&](const note& what) {
        std::printf("note: %s\n", what.text.c_str());
        handled.count_down();
        return shove::ack;
    });
    group.start();
    handled.wait();
    return group.stop(5s).exit_code();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        (void)shove::open("carrier-pigeon:loft");
    } catch (const shove::exception& e) {
        std::printf("as expected: %s\n", e.what());
    }
    try {
        return run(argc > 1 ? argv[1] : "memory:");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
