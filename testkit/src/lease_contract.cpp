#include <shove/testkit/lease_contract.hpp>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

/// A registered case as GoogleTest sees it.
class lease_test : public testing::Test {
public:
    lease_test(std::shared_ptr<const lease_factory> factory, const lease_case& which)
        : factory_(std::move(factory)), which_(which) {}

    void TestBody() override {
        if (which_.durable && !factory_->durable) GTEST_SKIP() << "the store is not durable";
        lease_stage on(*factory_);
        which_.run(on);
    }

private:
    std::shared_ptr<const lease_factory> factory_;
    const lease_case& which_;
};

}  // namespace

const std::vector<lease_case>& lease_cases() {
    static const auto all = [] {
        std::vector<lease_case> made;
        add_lease_publish_cases(made);
        add_lease_settle_cases(made);
        add_lease_dead_cases(made);
        add_lease_bounds_cases(made);
        add_lease_wait_cases(made);
        add_lease_durable_cases(made);
        return made;
    }();
    return all;
}

bool register_lease_contract(const lease_factory& factory) {
    const auto kept = std::make_shared<const lease_factory>(factory);
    for (const auto& each : lease_cases()) {
        const auto suite = factory.name + "_" + std::string(each.group);
        testing::RegisterTest(suite.c_str(), std::string(each.name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [kept, &each]() -> testing::Test* { return new lease_test(kept, each); });
    }
    return true;
}

}  // namespace shove::testkit
