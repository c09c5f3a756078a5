#include <shove/testkit/conformance.hpp>

#include <shove/testkit/child_process.hpp>

#include "stage.hpp"

namespace shove::testkit {
namespace {

/// A registered case as GoogleTest sees it.
class conformance_test : public testing::Test {
public:
    conformance_test(std::shared_ptr<const backend_factory> factory, const conformance_case& which)
        : factory_(std::move(factory)), which_(which) {}

    void TestBody() override {
        for (const auto& need : which_.needs) {
            if (!need.met(*factory_)) GTEST_SKIP() << "the backend has no " << need.name;
        }
        run_case(*factory_, which_);
    }

private:
    std::shared_ptr<const backend_factory> factory_;
    const conformance_case& which_;
};

}  // namespace

void run_case(const backend_factory& factory, const conformance_case& which) {
    stage on(factory);
    which.run(on);
    for (const auto& leak : on.leaks())
        ADD_FAILURE() << "what only handlers may see was told: " << leak;
}

const std::vector<conformance_case>& conformance_cases() {
    static const auto all = [] {
        std::vector<conformance_case> made;
        add_topology_cases(made);
        add_publish_cases(made);
        add_publish_refusal_cases(made);
        add_publish_async_cases(made);
        add_header_cases(made);
        add_identity_cases(made);
        add_time_cases(made);
        add_clock_cases(made);
        add_consume_cases(made);
        add_retry_cases(made);
        add_exception_cases(made);
        add_dead_letter_cases(made);
        add_poison_cases(made);
        add_timeout_cases(made);
        add_coroutine_cases(made);
        add_concurrency_cases(made);
        add_drain_cases(made);
        add_run_cases(made);
        add_lifetime_cases(made);
        add_admin_cases(made);
        add_crash_cases(made);
        add_durability_cases(made);
        add_sequenced_cases(made);
        add_reader_cases(made);
        add_broadcast_cases(made);
        add_batch_cases(made);
        add_describe_cases(made);
        add_observe_cases(made);
        return made;
    }();
    return all;
}

bool register_conformance(const backend_factory& factory) {
    if (register_child_roles(factory)) return true;
    const auto kept = std::make_shared<const backend_factory>(factory);
    for (const auto& each : conformance_cases()) {
        const auto suite = factory.name + "_" + std::string(each.group);
        testing::RegisterTest(suite.c_str(), std::string(each.name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [kept, &each]() -> testing::Test* { return new conformance_test(kept, each); });
    }
    return true;
}

}  // namespace shove::testkit
