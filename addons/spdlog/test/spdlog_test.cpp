#include <shove/inprocess.hpp>
#include <shove/shove.hpp>
#include <shove/spdlog.hpp>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <sstream>

namespace shove {
namespace {

class spdlog_sink : public testing::Test {
protected:
    std::ostringstream out;
    std::shared_ptr<::spdlog::logger> logger =
        std::make_shared<::spdlog::logger>("test", std::make_shared<::spdlog::sinks::ostream_sink_mt>(out));

    spdlog_sink() { logger->set_pattern("[%l] %v"); }
    static const event_info& info(std::string_view name) {
        for (const auto& each : event_catalog()) {
            if (each.name == name) return each;
        }
        throw std::out_of_range("no such event");
    }
    std::string line() {
        logger->flush();
        return out.str();
    }
};

TEST_F(spdlog_sink, text_with_its_fields) {
    const std::array<event_field, 2> fields{{{"queue", "my orders"}, {"count", 3}}};
    spdlog_events(logger)({info("leases_lost"), "3 leases\nlost", fields});
    EXPECT_EQ(line(), "[warning] 3 leases lost  event=leases_lost queue=\"my orders\" count=3\n");
}

TEST_F(spdlog_sink, json_lines) {
    const std::array<event_field, 2> fields{{{"queue", "a\"b\n"}, {"count", -3}}};
    spdlog_events(logger, log_format::json)({info("leases_lost"), "lost", fields});
    const auto text = line();
    EXPECT_TRUE(text.starts_with("{\"time\":\"2")) << text;
    EXPECT_TRUE(
        text.ends_with(R"(Z","level":"warning","event":"leases_lost","text":"lost","queue":"a\"b\n","count":-3})"
                       "\n"))
        << text;
}

TEST_F(spdlog_sink, the_loggers_level_counts) {
    logger->set_level(::spdlog::level::err);
    const std::array<event_field, 1> fields{{{"queue", "orders"}}};
    spdlog_events(logger)({info("shard_lost"), "lost", fields});
    EXPECT_EQ(line(), "");
}

TEST_F(spdlog_sink, a_brokers_events_arrive) {
    broker_options options;
    options.on_event = spdlog_events(logger);
    broker<inprocess> broker({}, std::move(options));
    auto group = broker.consumer_group();
    group.add(runtime_topic::make(topology("orders").dlq()).value(),
              [](std::span<const std::byte>, const delivery&) { return ack; });
    group.start();
    (void)group.stop(milliseconds(5'000));
    EXPECT_NE(line().find("event=group_started consumers=1"), std::string::npos) << line();
    EXPECT_NE(line().find("event=group_drained exit_code=0 left=0 stuck=0"), std::string::npos) << line();
}

}  // namespace
}  // namespace shove
