#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <shove/testkit/leak_watch.hpp>

#include <string>
#include <thread>
#include <vector>

namespace shove::testkit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

TEST(leak_watch, names_the_place_and_what_was_told) {
    leak_watch watch;
    watch.keep("hunter2");
    watch.told("the log", "connecting as shove");
    EXPECT_THAT(watch.leaks(), IsEmpty());
    watch.told("the log", "connecting with hunter2");
    EXPECT_THAT(watch.leaks(), ElementsAre("the log tells 'hunter2': connecting with hunter2"));
}

TEST(leak_watch, finds_a_secret_wherever_it_stands) {
    for (const char* text : {"hunter2", "hunter2 first", "in the hunter2 middle", "last hunter2", "hunhunter2ter"}) {
        leak_watch watch;
        watch.keep("hunter2");
        watch.told("here", text);
        EXPECT_THAT(watch.leaks(), SizeIs(1)) << text;
    }
}

TEST(leak_watch, tells_secrets_apart_that_begin_alike) {
    leak_watch watch;
    watch.keep("SECRET one");
    watch.keep("SECRET two");
    watch.told("here", "SECRET three");
    EXPECT_THAT(watch.leaks(), IsEmpty());
    watch.told("here", "SECRET two");
    EXPECT_THAT(watch.leaks(), SizeIs(1));
}

TEST(leak_watch, finds_the_beginning_and_the_end_of_a_long_one) {
    const auto body = "BEGIN " + std::string(100, 'b') + std::string(5'000, '.') + std::string(100, 'e') + " END";
    for (const auto& told : {body, body.substr(0, 50), body.substr(body.size() - 50)}) {
        leak_watch watch;
        watch.keep_message(bytes_of(body), {});
        watch.told("here", "got " + told + "!");
        EXPECT_THAT(watch.leaks(), SizeIs(1)) << told;
    }
}

TEST(leak_watch, keeps_what_a_message_holds_where_it_is_unmistakable) {
    leak_watch watch;
    const headers list{{"a", "Header-Value"}, {"b", "plain"}, {"c", 12345678}, {"d", bytes_of("\x01 bytes")}};
    watch.keep_message(bytes_of("a body"), list);
    for (const char* text : {"plain", "12345678", "a", "body", "Header"})
        watch.told("here", text);
    EXPECT_THAT(watch.leaks(), IsEmpty());
    for (const char* text : {"a body", "Header-Value", "\x01 bytes"})
        watch.told("here", text);
    EXPECT_THAT(watch.leaks(), SizeIs(3));
}

TEST(leak_watch, knows_what_is_unmistakable) {
    for (const char* text : {"SECRET", "body-1", "two words",
                             "p\xc3\xa9"
                             "cher"})
        EXPECT_TRUE(unmistakable(text)) << text;
    for (const char* text : {"", "b", "m1", "rejected", "123456", "12:34:56", "S3CR"})
        EXPECT_FALSE(unmistakable(text)) << text;
}

TEST(leak_watch, looks_at_texts_and_fields_of_events) {
    static constexpr std::array<std::string_view, 2> names{"queue", "error"};
    static constexpr event_info info{"went_wrong", log_level::error, names, ""};
    leak_watch watch;
    watch.keep("hunter2");
    const std::array<event_field, 2> fields{{{"queue", "orders"}, {"error", "not hunter2"}}};
    watch.told(event{info, "wrong: hunter2", fields});
    EXPECT_THAT(watch.leaks(), ElementsAre("the event 'went_wrong' tells 'hunter2': wrong: hunter2",
                                           "the field 'error' of the event 'went_wrong' tells 'hunter2': not hunter2"));
}

TEST(leak_watch, lets_a_message_id_be_what_it_is) {
    static constexpr std::array<std::string_view, 1> names{"message_id"};
    static constexpr event_info info{"went_wrong", log_level::error, names, ""};
    leak_watch watch;
    watch.keep("order-17");
    const std::array<event_field, 1> fields{{{"message_id", "order-17"}}};
    watch.told(event{info, "wrong", fields});
    EXPECT_THAT(watch.leaks(), IsEmpty());
}

TEST(leak_watch, success_is_no_text) {
    leak_watch watch;
    watch.keep(error().message());
    watch.told("an error", error());
    EXPECT_THAT(watch.leaks(), IsEmpty());
}

TEST(leak_watch, is_bounded) {
    leak_watch watch;
    for (std::size_t i = 0; i < leak_watch::most_parts + 10; ++i)
        watch.keep("secret-" + std::to_string(i));
    for (std::size_t i = 0; i < 100; ++i)
        watch.told("here", "secret-1 and more");
    EXPECT_THAT(watch.leaks(), SizeIs(leak_watch::most_leaks));
}

TEST(leak_watch, is_told_from_several_threads) {
    leak_watch watch;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&watch, t] {
                for (int i = 0; i < 1'000; ++i) {
                    watch.keep("SECRET " + std::to_string(t) + "/" + std::to_string(i));
                    watch.told("here", "nothing of it");
                }
            });
        }
    }
    EXPECT_THAT(watch.leaks(), IsEmpty());
    watch.told("here", "SECRET 3/999");
    EXPECT_THAT(watch.leaks(), SizeIs(1));
}

}  // namespace
}  // namespace shove::testkit
