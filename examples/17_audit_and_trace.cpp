// An audit trail of every call, and a trace that goes on in what a handler publishes.
#include <shove/audit.hpp>
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>
#include <shove/trace.hpp>

#include <iostream>
#include <memory>
#include <stop_token>

using namespace std::chrono_literals;

struct order {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (number))

struct invoice {
    int order = 0;
};
BOOST_DESCRIBE_STRUCT(invoice, (), (order))

struct orders : shove::topic<order> {
    static constexpr auto topology = shove::topology("orders").hold(10ms).dlq();
};
struct invoices : shove::topic<invoice> {
    static constexpr auto topology = shove::topology("invoices").hold(10ms).dlq();
};

int main() {
    shove::broker<shove::inprocess> broker{{}};
    broker.declare<orders, invoices>();
    const auto publisher = broker.publisher();

    // Here the records go to the standard output; shove::audit_to(publisher) sends them to the topic shove-audit-log.
    const auto trail = std::make_shared<shove::audit_trail>([](std::span<const shove::audit_record> records) {
        for (const auto& record : records)
            std::cout << shove::to_json(record) << '\n';
    });
    auto group = broker.consumer_group({.audit = trail});
    group.add<orders>([&](const order& what, const shove::delivery& info) {
        publisher.publish<invoices>({what.number}, {.trace = info.trace()});
        return shove::ack;
    });
    std::stop_source done;
    group.add<invoices>([&](const invoice&, const shove::delivery& info) {
        const auto trace = info.trace();
        std::cerr << "the invoice belongs to trace " << (trace ? trace->trace_id_text() : "none") << '\n';
        done.request_stop();
        return shove::ack;
    });

    shove::publish_options from_outside;  // as an HTTP server would get it
    from_outside.headers.add("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    publisher.publish<orders>({17}, from_outside);
    return group.run_until(done.get_token(), 5s).exit_code();
}
