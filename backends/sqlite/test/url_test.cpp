// What a URL means.

#include <shove/sqlite.hpp>

#include <gtest/gtest.h>

namespace shove::sqlite_test {

namespace {

using namespace std::chrono_literals;

TEST(url_test, names_a_relative_or_an_absolute_file) {
    EXPECT_EQ(sqlite::parse("sqlite:relative.db").value().path, "relative.db");
    EXPECT_EQ(sqlite::parse("sqlite:///var/lib/q.db").value().path, "/var/lib/q.db");
    EXPECT_EQ(sqlite::parse("sqlite:/var/lib/q.db").value().path, "/var/lib/q.db");
    EXPECT_EQ(sqlite::parse("sqlite:a%20b%3Fc.db").value().path, "a b?c.db");
}

TEST(url_test, reads_its_options) {
    const auto made = sqlite::parse(
                          "sqlite:q.db?durability=normal&lease=5m&poll=7ms&busy_timeout=2s&max_queued_publishes=9&max_"
                          "queued_bytes=10")
                          .value();
    EXPECT_EQ(made.durability, sqlite::durability::normal);
    EXPECT_EQ(made.lease, 5min);
    EXPECT_EQ(made.poll, 7ms);
    EXPECT_EQ(made.busy_timeout, 2s);
    EXPECT_EQ(made.max_queued_publishes, 9u);
    EXPECT_EQ(made.max_queued_bytes, 10u);
}

TEST(url_test, names_what_is_wrong) {
    const auto wrong = [](std::string_view url) {
        const auto made = sqlite::parse(url);
        return made ? std::string() : made.error().message();
    };
    EXPECT_NE(wrong("sqlite:q.db?jornal=1").find("'jornal'"), std::string::npos);
    EXPECT_NE(wrong("sqlite:q.db?lease=5").find("'lease'"), std::string::npos);
    EXPECT_NE(wrong("sqlite:q.db?durability=maybe").find("'maybe'"), std::string::npos);
    EXPECT_NE(wrong("sqlite://host/q.db").find("host"), std::string::npos);
    for (const auto* url : {"sqlite:", "sqlite:///", "sqlite::memory:", "sqlite:a%0", "sqlite:a%00b", "sqlite:%zz",
                            "kafka://x", "sqlite:file:x", "sqlite:q.db?poll=0ms", "sqlite:q.db?&"}) {
        EXPECT_NE(wrong(url), "") << url;
    }
}

}  // namespace

}  // namespace shove::sqlite_test
