// Consumers come when the queue grows and go when it is empty; each has a handler of its own, and every decision is
// told.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct picture {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(picture, (), (number))

struct pictures : shove::topic<picture> {
    static constexpr auto topology = shove::topology("pictures").dlq();
};

// Each consumer makes one, so it may hold what cannot be shared: a connection, a buffer.
class shrinking {
public:
    explicit shrinking(std::latch& done) : done_(&done) {}
    shove::outcome operator()(const picture&) {
        std::this_thread::sleep_for(10ms);  // the work
        ++shrunk_;
        done_->count_down();
        return shove::ack;
    }

private:
    std::latch* done_;
    int shrunk_ = 0;  // no lock: one call at a time, see sequential()
};

void tell(const shove::scale_report& what) {
    using action = shove::scale_decision::action;
    const char* word = what.decision.what == action::up ? "up" : what.decision.what == action::down ? "down" : "hold";
    std::printf("%-4s %u consumers: %s\n", word, what.seen.consumers, what.decision.reason.c_str());
}

}  // namespace

int main() {
    constexpr int count = 200;
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<pictures>();
    const auto publisher = broker.publisher();
    for (int i = 0; i < count; ++i)
        publisher.publish<pictures>({i});

    std::latch done(count);
    auto group = broker.consumer_group({.prefetch = 5});  // for all registrations of the group
    group.add_each<pictures>([&] { return shrinking(done); },
                             shove::consumer_options{.consumers = {1, 4}}.sequential());

    shove::autoscaler_options scaling;  // far quicker than the defaults, so that there is something to see
    scaling.poll = 50ms;
    scaling.hysteresis = 50ms;
    scaling.cooldown = 100ms;
    scaling.on_decision = tell;
    group.enable_autoscaling(scaling);

    group.start();
    done.wait();
    while (group.stats<pictures>().consumers > 1)  // idle ones go, one at a time
        std::this_thread::sleep_for(50ms);
    return group.stop(5s).exit_code();
}
