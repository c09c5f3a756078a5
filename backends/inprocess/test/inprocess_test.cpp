#include "driver_fixture.hpp"

// The tag: URLs, configuration, declaring, ping and close.
namespace {

using namespace inprocess_test;
using shove::inprocess;
using testing::HasSubstr;

class inprocess_driver : public driver_fixture {};

TEST(inprocess_url, the_bare_scheme_means_the_defaults) {
    for (const auto* url : {"memory:", "memory://", "memory:?", "memory://?"}) {
        const auto config = inprocess::parse(url);
        ASSERT_TRUE(config) << url;
        EXPECT_EQ(config->capacity, 10'000u);
        EXPECT_EQ(config->max_bytes, std::nullopt);
    }
}

TEST(inprocess_url, takes_its_options) {
    const auto config = inprocess::parse("memory:?capacity=5&max_bytes=1000").value();
    EXPECT_EQ(config.capacity, 5u);
    EXPECT_EQ(config.max_bytes, 1000u);
}

TEST(inprocess_url, refuses_what_it_does_not_know_by_name) {
    const auto refusal = [](std::string_view url) { return inprocess::parse(url).error(); };
    EXPECT_EQ(refusal("memory:?capacty=5"), errc::invalid_argument);
    EXPECT_THAT(refusal("memory:?capacty=5").message(), HasSubstr("unknown option 'capacty'"));
    EXPECT_THAT(refusal("memory:?capacity=5&x").message(), HasSubstr("unknown option 'x'"));
    for (const auto* value : {"0", "-1", "", "1k", "99999999999999999999999"}) {
        EXPECT_THAT(refusal("memory:?capacity=" + std::string(value)).message(),
                    HasSubstr("capacity must be a whole number of at least 1"));
    }
    EXPECT_THAT(refusal("memory:here").message(), HasSubstr("no name or place"));
    EXPECT_THAT(refusal("sqlite:here").message(), HasSubstr("not a memory URL"));
}

TEST(inprocess_config, is_checked_when_opened) {
    const spi::driver_context context{std::make_shared<shove::testkit::manual_clock>()};
    EXPECT_EQ(inprocess::open({.capacity = 0}, context).error(), errc::invalid_argument);
    EXPECT_EQ(inprocess::open({.max_bytes = 0}, context).error(), errc::invalid_argument);
    EXPECT_EQ(inprocess::open({}, {}).error(), errc::invalid_argument);
}

TEST_F(inprocess_driver, says_what_it_can_do) {
    constexpr auto can = inprocess::capabilities;
    static_assert(can.delayed_publish && can.any_delay && can.admin);
    static_assert(!can.durable && !can.several_processes && !can.crash_budget && can.lease == 0ms);
    EXPECT_EQ(driver->capabilities().backend, "inprocess");
    EXPECT_NE(driver->admin(), nullptr);
}

TEST_F(inprocess_driver, declaring_again_changes_nothing) {
    put({"a"});
    declare(topology);
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(inprocess_driver, two_brokers_share_nothing) {
    auto other = inprocess::open({}, {clock}).value();
    box<shove::result<spi::queue_depth>> done;
    other->depth("jobs", done.sink());
    EXPECT_EQ(done.value().error(), errc::unknown_queue);
}

TEST_F(inprocess_driver, names_an_undeclared_queue) {
    box<shove::result<spi::queue_depth>> found;
    driver->depth("nope", found.sink());
    EXPECT_EQ(found.value().error(), errc::unknown_queue);
    EXPECT_THAT(found.value().error().message(), HasSubstr("'nope'"));
    box<shove::result<std::shared_ptr<spi::subscription>>> sub;
    driver->subscribe({make(shove::topology("nope")), false, 1, ""}, sub.sink());
    EXPECT_EQ(sub.value().error(), errc::unknown_queue);
}

TEST_F(inprocess_driver, refuses_a_subscription_without_prefetch) {
    box<shove::result<std::shared_ptr<spi::subscription>>> sub;
    driver->subscribe({topology, false, 0, ""}, sub.sink());
    EXPECT_EQ(sub.value().error(), errc::invalid_argument);
}

TEST_F(inprocess_driver, refuses_what_it_has_no_capability_for) {
    for (const auto& spec : {shove::topology("a").external(), shove::topology("b").external().dlq()}) {
        box<error> done;
        driver->declare(make(spec), done.sink());
        EXPECT_EQ(done.value(), errc::unsupported);
        EXPECT_THAT(done.value().message(), HasSubstr("'" + std::string(spec.queue()) + "'"));
    }
}

TEST_F(inprocess_driver, finds_its_queues_among_thousands) {
    for (int i = 0; i < 5000; ++i) {
        const std::string name = "q" + std::to_string(i);
        declare(make(shove::topology(name)));
    }
    for (int i = 0; i < 5000; ++i)
        EXPECT_EQ(depth("q" + std::to_string(i)).ready, 0u);
}

TEST_F(inprocess_driver, is_closed_for_good) {
    box<error> ping, declared;
    driver->ping(clock->now(), ping.sink());
    EXPECT_FALSE(ping.value());
    close();
    close();
    driver->ping(clock->now(), ping.sink());
    EXPECT_EQ(ping.value(), errc::closed);
    driver->declare(topology, declared.sink());
    EXPECT_EQ(declared.value(), errc::closed);
    box<shove::result<spi::queue_depth>> found;
    driver->depth("jobs", found.sink());
    EXPECT_EQ(found.value().error(), errc::closed);
    box<shove::result<std::shared_ptr<spi::subscription>>> sub;
    driver->subscribe({topology, false, 1, ""}, sub.sink());
    EXPECT_EQ(sub.value().error(), errc::closed);
    box<spi::publish_report> report;
    driver->publish(*make(shove::topology("nope")), request({"a"}), report.sink());
    EXPECT_EQ(report.value().each[0].cause, errc::closed);
}

}  // namespace
