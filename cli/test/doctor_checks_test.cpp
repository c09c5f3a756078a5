#include <gmock/gmock.h>

#include <shove/testkit/scripted_driver.hpp>

#include "doctor_checks.hpp"
#include "redacted_url.hpp"

namespace {

using namespace std::chrono_literals;
using namespace shove;
using cli::verdict;
using testing::HasSubstr;
using testing::Not;

/// A broker whose answers the test gives.
class DoctorChecks : public testing::Test {
protected:
    const std::shared_ptr<testkit::scripted_driver> driver = std::make_shared<testkit::scripted_driver>();
    const any_broker broker{detail::broker_handle(detail::make_core(driver, {}))};

    cli::finding clock_off_by(milliseconds off) {
        driver->on_describe([off] {
            spi::description told;
            told.clock = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) + off;
            return told;
        });
        return cli::check_broker(broker, "1.2.3").at(1);
    }
};

TEST_F(DoctorChecks, tells_what_the_driver_tells) {
    driver->on_describe([] { return spi::description{{{"server", "7.2"}}, {}}; });
    const auto found = cli::check_broker(broker, "1.2.3");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].text, "scripted");
    ASSERT_EQ(found[0].facts.size(), 2U);
    EXPECT_EQ(found[0].facts[0].value, "7.2");
    EXPECT_EQ(found[0].facts[1].value, "1.2.3");
    EXPECT_EQ(found[1].is, verdict::note);
}

TEST_F(DoctorChecks, a_driver_that_tells_nothing_is_fine) {
    EXPECT_TRUE(broker.describe().facts.empty());
    EXPECT_EQ(cli::check_broker(broker, "1.2.3").at(0).is, verdict::ok);
}

TEST_F(DoctorChecks, a_clock_that_is_off_is_a_warning) {
    EXPECT_EQ(clock_off_by(0ms).is, verdict::ok);
    EXPECT_EQ(clock_off_by(-1h).is, verdict::warning);
    EXPECT_THAT(clock_off_by(-1h).text, HasSubstr("behind"));
    EXPECT_THAT(clock_off_by(1h).text, HasSubstr("ahead of"));
    EXPECT_THAT(clock_off_by(1h).remedy, HasSubstr("NTP"));
}

TEST_F(DoctorChecks, errors_become_findings_with_a_remedy) {
    driver->on_describe([]() -> result<spi::description> { return error(errc::not_connected, "gone"); });
    driver->on_ping([] { return std::optional(error(errc::connection_lost, "cut")); });
    cli::topic_settings topic;
    topic.queue = "q";
    for (const auto& found : {cli::check_broker(broker, "1").at(0), cli::check_ping(broker, 1s),
                              cli::check_topics(broker, {topic}, true, 1s).at(0)}) {
        EXPECT_EQ(found.is, verdict::failed);
        EXPECT_FALSE(found.remedy.empty());
    }
    EXPECT_THAT(cli::check_ping(broker, 1s).text, HasSubstr("connection_lost: cut"));
}

TEST_F(DoctorChecks, a_ping_without_an_answer_ends_at_its_deadline) {
    driver->on_ping([]() -> std::optional<error> { return std::nullopt; });
    EXPECT_THAT(cli::check_ping(broker, 20ms).text, HasSubstr("timed_out"));
    driver->answer_the_rest();
}

TEST(redacted_url, hides_what_is_secret) {
    for (const auto* url :
         {"amqp://ann:hunter2@host:5672/v", "amqp:ann:hunter2@host", "nats://hunter2@host", "x://host?password=hunter2",
          "x://host?a=b&API_KEY=hunter2&c=d", "x://host?token=hunter2;b=c"}) {
        const cli::redacted_url shown(url);
        EXPECT_THAT(shown.text(), Not(HasSubstr("hunter2"))) << url;
        EXPECT_THAT(shown.text(), HasSubstr("***")) << url;
        EXPECT_THAT(shown.clean("cannot use 'hunter2' here"), Not(HasSubstr("hunter2"))) << url;
    }
}

TEST(redacted_url, hides_a_password_that_is_not_escaped) {
    EXPECT_EQ(cli::redacted_url("x://ann:p@ss/w@host/y").text(), "x://***@host/y");
}

TEST(redacted_url, leaves_the_rest_as_it_is) {
    for (const auto* url : {"", "memory:", "sqlite:a.db?durability=normal", "sqlite:///var/a@b.db", "x://host:1/y?a=b"})
        EXPECT_EQ(cli::redacted_url(url).text(), url);
}

}  // namespace
