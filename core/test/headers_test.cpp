#include <shove/error.hpp>
#include <shove/headers.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace shove {
namespace {

TEST(headers, keep_types_order_and_repeated_names) {
    const std::byte raw[] = {std::byte{0}, std::byte{255}};
    headers h;
    h.add("t", "text").add("i", std::numeric_limits<std::int64_t>::min()).add("d", 0.1).add("b", true);
    h.add("x", std::span<const std::byte>(raw)).add("n", header_value()).add("t", "again");
    std::vector<std::string> names;
    for (const auto& [name, value] : h)
        names.emplace_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"t", "i", "d", "b", "x", "n", "t"}));
    const auto view = h.view();
    EXPECT_EQ(view.size(), 7u);
    EXPECT_EQ(view.text("t"), "text");
    EXPECT_EQ(view.find("i")->as_integer(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(view.find("d")->as_floating(), 0.1);
    EXPECT_EQ(view.find("b")->as_boolean(), true);
    EXPECT_EQ(view.find("x")->bytes(), std::string_view("\0\xff", 2));
    EXPECT_EQ(view.find("n")->type(), header_type::none);
    EXPECT_FALSE(view.find("T"));
}

TEST(headers, a_boolean_false_is_not_true) {
    const headers h{{"b", false}};
    EXPECT_EQ(h.view().find("b")->as_boolean(), false);
}

TEST(headers, set_replaces_every_one_of_a_name) {
    headers h{{"a", "1"}, {"b", "2"}, {"a", "3"}};
    h.set("a", "4");
    EXPECT_EQ(h.view().size(), 2u);
    EXPECT_EQ(h.view().text("a"), "4");
    h.set("b", *h.view().find("a"));  // a value that points into the list itself
    EXPECT_EQ(h.view().text("b"), "4");
}

TEST(headers, numbers_in_texts_are_read_whole_or_not_at_all) {
    EXPECT_EQ(header_value("42").as_integer(), 42);
    EXPECT_FALSE(header_value("42x").as_integer());
    EXPECT_FALSE(header_value("").as_integer());
    EXPECT_FALSE(header_value("99999999999999999999").as_integer());
}

TEST(headers, shown_to_people) {
    EXPECT_EQ(header_value(true).to_string(), "true");
    EXPECT_EQ(header_value(-5).to_string(), "-5");
    EXPECT_EQ(header_value(0.1).to_string(), "0.1");
    const std::byte raw[] = {std::byte{1}, std::byte{2}};
    EXPECT_EQ(header_value(std::span<const std::byte>(raw)).to_string(), "AQI=");
}

TEST(headers, names_must_have_characters) {
    headers h;
    EXPECT_THROW(h.add("", "x"), exception);
    EXPECT_THROW(h.add(std::string(65'536, 'n'), "x"), exception);
    EXPECT_TRUE(h.empty());
}

TEST(headers, encoded_bytes_from_outside_are_checked) {
    const headers h{{"a", "1"}, {"i", 7}};
    const std::string good(h.view().encoded());
    EXPECT_TRUE(headers::well_formed(good));
    EXPECT_TRUE(headers::well_formed(""));
    for (std::size_t n = 1; n < good.size(); ++n) {
        const auto cut = good.substr(0, n);
        if (headers::well_formed(cut)) {
            EXPECT_EQ(headers_view(cut).size(), 1u) << n;
        }
    }
    auto bad_type = good;
    bad_type[2] = 99;
    EXPECT_FALSE(headers::well_formed(bad_type));
    auto short_number = good;
    short_number[9 + 3] = 7;  // the integer claims seven bytes
    EXPECT_FALSE(headers::well_formed(short_number));
}

TEST(headers, reserved_names_in_any_case) {
    for (const auto* name :
         {"x-retry-count", "X-Message-Id", "x-death-reason", "X-DEATH", "x-sequence-key", "x-shove-replays"}) {
        EXPECT_TRUE(is_reserved_header(name)) << name;
    }
    for (const auto* name : {"x-original-queue", "x-trace-id", "shard", "x-deat", ""})
        EXPECT_FALSE(is_reserved_header(name)) << name;
}

}  // namespace
}  // namespace shove
