// A broadcast: each of two caches hears every price that is published while it listens.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <map>
#include <string>

namespace {

using namespace std::chrono_literals;

struct price {
    std::string symbol;
    double value = 0;
};
BOOST_DESCRIBE_STRUCT(price, (), (symbol, value))

struct prices : shove::topic<price> {
    static constexpr auto topology = shove::topology("prices").broadcast();
};

/// What would be one process of several.
struct cache {
    std::map<std::string, double> known;
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<prices>();
    broker.publisher().publish<prices>({"ACME", 11.0});  // nobody listens yet: it is stored nowhere

    std::latch heard(6);
    cache caches[2];
    auto one = broker.consumer_group();
    auto two = broker.consumer_group();
    const auto listen = [&](auto& group, cache& into) {
        group.template add_broadcast<prices>([&heard, &into](const price& p) {
            into.known[p.symbol] = p.value;
            heard.count_down();
            return shove::ack;
        });
        group.start();  // subscribed, once this returns
    };
    listen(one, caches[0]);
    listen(two, caches[1]);
    for (const auto& p : {price{"ACME", 12.5}, price{"ZINC", 3.0}, price{"ACME", 12.75}})
        broker.publisher().publish<prices>(p);
    heard.wait();
    const int code = one.stop(5s).exit_code() + two.stop(5s).exit_code();
    for (const auto& each : caches)
        std::printf("ACME %.2f, ZINC %.2f\n", each.known.at("ACME"), each.known.at("ZINC"));
    return code;
}
