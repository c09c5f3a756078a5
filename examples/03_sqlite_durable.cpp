// Messages in a file: what was published survives the process. No server.
#include <shove/shove.hpp>
#include <shove/sqlite.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct order {
    std::string id;
    int pieces = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, pieces))

struct orders : shove::topic<order> {
    static constexpr auto topology = shove::topology("orders").hold(1s).dlq();
};

// The first life of the program: it publishes and goes.
void publish_three(const std::filesystem::path& file) {
    shove::broker<shove::sqlite> broker{{.path = file}};
    broker.declare<orders>();
    const auto publisher = broker.publisher();
    for (const char* id : {"A-1", "A-2", "A-3"}) {
        const auto stored = publisher.publish<orders>({id, 2});  // returns once it is on the disk
        std::printf("published %s as message %s\n", id, stored.id().c_str());
    }
}

// The second life: everything is still there.
int handle_three(const std::filesystem::path& file) {
    shove::broker<shove::sqlite> broker{{.path = file}};
    broker.declare<orders>();
    std::printf("reopened: %llu messages wait\n", static_cast<unsigned long long>(broker.depth<orders>().ready));
    std::latch handled(3);
    auto group = broker.consumer_group();
    group.add<orders>([&](const order& what) {
        std::printf("packed %d pieces for %s\n", what.pieces, what.id.c_str());
        handled.count_down();
        return shove::ack;
    });
    group.start();
    handled.wait();
    const auto ended = group.stop(5s);
    std::printf("drained: %llu messages wait\n", static_cast<unsigned long long>(broker.depth<orders>().ready));
    return ended.exit_code();
}

}  // namespace

int main() {
    const auto folder =
        std::filesystem::temp_directory_path() /
        ("shove-example-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    std::filesystem::create_directories(folder);
    publish_three(folder / "orders.db");
    const int code = handle_three(folder / "orders.db");
    std::filesystem::remove_all(folder);
    return code;
}
