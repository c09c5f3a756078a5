// Order per key: one account's entries are booked in order though one of them fails at first; others do not wait.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>

namespace {

using namespace std::chrono_literals;

struct entry {
    std::string account;
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(entry, (), (account, number))

struct entries : shove::topic<entry> {
    static constexpr auto sequence_key = &entry::account;
    static constexpr auto topology =
        shove::topology("entries").hold(200ms).dlq().sequenced(shove::sequence_failure::skip);
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<entries>();
    const auto publisher = broker.publisher();
    for (int i = 1; i <= 3; ++i) {
        publisher.publish<entries>({"alice", i});
        publisher.publish<entries>({"bob", i});
    }

    std::latch booked(6);
    auto group = broker.consumer_group();
    group.add<entries>([&](const entry& e, const shove::delivery& delivery) {
        if (e.account == "alice" && e.number == 1 && delivery.attempt() == 1) {
            std::puts("alice 1 fails; alice waits");
            return shove::retry("the ledger is locked");
        }
        std::printf("%s %d\n", e.account.c_str(), e.number);
        booked.count_down();
        return shove::ack;
    });
    group.start();
    booked.wait();
    return group.stop(5s).exit_code();
}
