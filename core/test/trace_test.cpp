#include <shove/trace.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shove {
namespace {

constexpr const char* good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(trace, reads_and_writes_the_canonical_form) {
    const auto read = parse_trace(good, "vendor=value,1tenant@sys=x");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->parent(), good);
    EXPECT_EQ(read->trace_id_text(), "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(read->flags, 1);
    EXPECT_EQ(read->state, "vendor=value,1tenant@sys=x");
}

TEST(trace, refuses_what_is_not_canonical) {
    const std::string text = good;
    const auto with = [&](std::size_t at, char c) {
        auto changed = text;
        changed[at] = c;
        return changed;
    };
    for (const auto& bad :
         {std::string(), std::string("00"), text + "-extra", text.substr(0, 54), with(0, 'f'), with(1, '1'),
          with(2, '_'), with(3, 'A'), with(3, 'g'), with(35, '_'), with(36, 'B'), with(52, ' '), with(53, 'F'),
          with(54, '\0'), "ff" + text.substr(2), "00-" + std::string(32, '0') + text.substr(35),
          text.substr(0, 36) + std::string(16, '0') + text.substr(52), " " + text.substr(1),
          std::string(100'000, 'a')}) {
        const auto read = parse_trace(bad);
        ASSERT_FALSE(read) << bad.substr(0, 80);
        EXPECT_NE(read.error().message().find("traceparent"), std::string::npos);
        EXPECT_EQ(read.error().message().find("0af7"), std::string::npos) << "the value is told";
    }
    EXPECT_TRUE(parse_trace(with(53, 'f'))) << "any flags";
}

TEST(trace, bounds_of_the_state) {
    const std::string member256 = "k=" + std::string(256, 'v');
    std::string many = "a0=1";
    for (int i = 1; i < 32; ++i)
        many += ",a" + std::to_string(i) + "=1";
    for (const auto& fine :
         std::vector<std::string>{"a=1", member256, many, "a/b*c-d_e=!~", std::string(256, 'k') + "=v",
                                  std::string(241, '1') + "@" + std::string(14, 's') + "=v"}) {
        EXPECT_TRUE(parse_trace(good, fine)) << fine;
    }
    for (const auto& bad : {std::string(" a=1"),
                            std::string("a=1 "),
                            std::string("a=1, b=2"),
                            std::string("a=1 ,b=2"),
                            std::string("a=1,,b=2"),
                            std::string(",a=1"),
                            std::string("a=1,"),
                            std::string("a"),
                            std::string("=1"),
                            std::string("a="),
                            std::string("A=1"),
                            std::string("1a=1"),
                            std::string("a=b=c"),
                            std::string("a=b c"),
                            std::string("a=1,a=2"),
                            "k=" + std::string(257, 'v'),
                            std::string(257, 'k') + "=v",
                            many + ",a32=1",
                            std::string(513, 'a'),
                            std::string(242, 't') + "@s=v",
                            "t@" + std::string(15, 's') + "=v",
                            std::string("@s=v"),
                            std::string("t@=v"),
                            std::string("t@1=v"),
                            std::string("a@b@c=v"),
                            std::string("a=\x7f"),
                            std::string("a=\n")}) {
        EXPECT_FALSE(parse_trace(good, bad)) << bad;
    }
}

TEST(trace, headers_carry_it) {
    headers list;
    EXPECT_FALSE(*read_trace(list)) << "none";
    const auto context = parse_trace(good, "a=1").value();
    write_trace(list, context);
    EXPECT_EQ(**read_trace(list), context);
    write_trace(list, parse_trace(good).value());
    EXPECT_EQ((*read_trace(list))->state, "") << "the old state stayed";
    EXPECT_EQ(list.view().size(), 1U);
}

TEST(trace, headers_that_make_no_sense) {
    EXPECT_FALSE(read_trace(headers{{"tracestate", "a=1"}})) << "a state alone";
    EXPECT_FALSE(read_trace(headers{{"traceparent", good}, {"traceparent", good}})) << "twice";
    EXPECT_FALSE(read_trace(headers{{"traceparent", good}, {"tracestate", "a=1"}, {"tracestate", "b=1"}}));
    EXPECT_FALSE(read_trace(headers{{"traceparent", good}, {"tracestate", ""}})) << "an empty state";
    EXPECT_FALSE(read_trace(headers{{"traceparent", 17}})) << "a number";
    EXPECT_TRUE(read_trace(headers{{"Traceparent", "x"}})) << "another name";
}

}  // namespace
}  // namespace shove
