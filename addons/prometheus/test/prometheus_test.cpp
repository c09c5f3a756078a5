#include <shove/error.hpp>
#include <shove/prometheus.hpp>

#include <gtest/gtest.h>

namespace shove {
namespace {

TEST(prometheus, refuses_a_prefix_that_is_no_name) {
    const metrics all;
    for (const char* bad : {"", "1a", "a-b", "a b", "a\n"})
        EXPECT_THROW((void)prometheus_text(all, bad), exception) << bad;
    EXPECT_EQ(prometheus_text(all, "my_app"), "");
}

TEST(prometheus, an_address_that_cannot_be_bound_is_named) {
    const auto all = std::make_shared<metrics>();
    const prometheus_exporter first(all, {.address = "127.0.0.1:0"});
    const auto taken = "127.0.0.1:" + std::to_string(first.port());
    try {
        const prometheus_exporter second(all, {.address = taken});
        FAIL() << "bound twice";
    } catch (const exception& e) {
        EXPECT_NE(std::string(e.what()).find(taken), std::string::npos) << e.what();
    }
    EXPECT_THROW(prometheus_exporter(all, {.address = "9464"}), exception);
}

}  // namespace
}  // namespace shove
