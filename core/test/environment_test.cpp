#include <gmock/gmock.h>

#include <shove/autoscaler.hpp>
#include <shove/consumer_options.hpp>
#include <shove/environment.hpp>
#include <shove/error.hpp>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using shove::environment;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

environment with(environment::variables given) {
    return environment::from_pairs("APP", std::move(given));
}

/// The text of the refusal, which is an `invalid_argument`.
std::string refusal(const std::function<void()>& read) {
    try {
        read();
    } catch (const shove::exception& e) {
        EXPECT_EQ(e.cause(), shove::errc::invalid_argument);
        return e.cause().message();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
}

std::string int_refusal(const std::string& value) {
    return refusal([&] { with({{"APP_N", value}}).parse<int>("N"); });
}

TEST(environment, names_have_the_prefix_or_are_the_key) {
    EXPECT_EQ(with({}).name_of("PORT"), "APP_PORT");
    EXPECT_EQ(with({{"APP_PORT", "1"}, {"PORT", "2"}}).parse<int>("PORT"), 1);
    EXPECT_EQ(environment::from_pairs("", {{"APP_PORT", "1"}, {"PORT", "2"}}).parse<int>("PORT"), 2);
}

TEST(environment, missing_empty_and_blank_mean_the_default) {
    for (const auto& given : {with({}), with({{"APP_N", ""}}), with({{"APP_N", " \t\n"}})}) {
        EXPECT_FALSE(given.text("N"));
        EXPECT_EQ(given.parse<int>("N").value_or(-7), -7);
        EXPECT_EQ(given.parse_in("N", 1, 5).value_or(99), 99);  // a default may lie outside
        EXPECT_FALSE(given.flag("N"));
        EXPECT_FALSE(given.secs("N", 1));
        EXPECT_FALSE(given.choice<int>("N", {{"one", 1}}));
    }
}

TEST(environment, values_are_trimmed) {
    EXPECT_EQ(with({{"APP_N", " \t12\n"}}).parse<int>("N"), 12);
    EXPECT_EQ(with({{"APP_S", "  a b "}}).text("S"), "a b");
}

TEST(environment, numbers) {
    EXPECT_EQ(with({{"APP_N", "-12"}}).parse<int>("N"), -12);
    EXPECT_EQ(with({{"APP_N", "+12"}}).parse<unsigned>("N"), 12U);
    EXPECT_EQ(with({{"APP_N", "18446744073709551615"}}).parse<std::uint64_t>("N"), UINT64_MAX);
    EXPECT_EQ(with({{"APP_N", "-9223372036854775808"}}).parse<std::int64_t>("N"), INT64_MIN);
    EXPECT_EQ(with({{"APP_N", "2.5"}}).parse<double>("N"), 2.5);
    EXPECT_EQ(with({{"APP_N", "1e3"}}).parse<float>("N"), 1000.0F);
    for (const auto* bad : {"x", "1.5", "12a", "1 2", "0x10", "++1", "+-1", "+", "-", "99999999999999999999"}) {
        EXPECT_THAT(int_refusal(bad), AllOf(HasSubstr("APP_N"), HasSubstr("'" + std::string(bad) + "'"))) << bad;
    }
    for (const auto* bad : {"nan", "inf", "-inf", "1e999", "1,5"}) {
        EXPECT_THAT(refusal([&] { with({{"APP_N", bad}}).parse<double>("N"); }), HasSubstr("a finite number")) << bad;
    }
    EXPECT_THAT(refusal([] { with({{"APP_N", "-1"}}).parse<unsigned>("N"); }), HasSubstr("0..=4294967295"));
    EXPECT_THAT(refusal([] { with({{"APP_N", "300"}}).parse<std::uint8_t>("N"); }), HasSubstr("0..=255"));
}

TEST(environment, ranges_are_inclusive_and_shown) {
    for (const auto* fine : {"1", "5"})
        EXPECT_TRUE(with({{"APP_N", fine}}).parse_in("N", 1, 5)) << fine;
    for (const auto* bad : {"0", "6"}) {
        EXPECT_EQ(refusal([&] {
                      with({{"APP_N", bad}}).parse_in("N", 1, 5);
                  }),
                  "the variable APP_N is '" + std::string(bad) + "'; expected a whole number in 1..=5");
    }
    EXPECT_THAT(refusal([] { with({{"APP_N", "2"}}).parse_in("N", 0.5, 1.5); }), HasSubstr("0.5..=1.5"));
}

TEST(environment, flags) {
    for (const auto* yes : {"true", "1", "yes", "on", "TRUE", "Yes", "oN"})
        EXPECT_EQ(with({{"APP_F", yes}}).flag("F"), true) << yes;
    for (const auto* no : {"false", "0", "no", "off", "FALSE", "No", "oFF"})
        EXPECT_EQ(with({{"APP_F", no}}).flag("F"), false) << no;
    EXPECT_THAT(refusal([] {
                    with({{"APP_F", "ja"}}).flag("F");
                }),
                AllOf(HasSubstr("'ja'"), HasSubstr("true or false")));
}

TEST(environment, seconds) {
    EXPECT_EQ(with({{"APP_S", "90"}}).secs("S"), 90s);
    EXPECT_EQ(with({{"APP_S", "0"}}).secs("S"), 0s);
    EXPECT_THAT(refusal([] { with({{"APP_S", "0"}}).secs("S", 1); }), HasSubstr("1..=1000000000"));
    for (const auto* bad : {"1.5", "5s", "-1", "1000000001"})
        EXPECT_THAT(refusal([&] { with({{"APP_S", bad}}).secs("S"); }), HasSubstr("whole number")) << bad;
}

enum class keeping { work_queue, limits };

TEST(environment, choices_ignore_case_and_dashes) {
    const auto read = [](const char* value) {
        return with({{"APP_C", value}})
            .choice<keeping>("C", {{"work_queue", keeping::work_queue}, {"limits", keeping::limits}});
    };
    for (const auto* same : {"work_queue", "workqueue", "Work-Queue", "WORK__QUEUE", "_workqueue-"})
        EXPECT_EQ(read(same), keeping::work_queue) << same;
    EXPECT_EQ(read("LIMITS"), keeping::limits);
    for (const auto* bad : {"limit", "limitss", "work queue", "-"}) {
        EXPECT_THAT(refusal([&] { read(bad); }), AllOf(HasSubstr("APP_C"), HasSubstr("'" + std::string(bad) + "'"),
                                                       HasSubstr("work_queue, limits")));
    }
}

TEST(environment, what_is_not_utf8_is_refused) {
    const auto given = with({{"APP_S", "a\xFF"}, {"APP_OK", "gr\xC3\xBC\xC3\x9F"}});
    EXPECT_THAT(refusal([&] { given.text("S"); }), AllOf(HasSubstr("APP_S"), HasSubstr("valid UTF-8")));
    EXPECT_THAT(refusal([&] { given.parse<int>("S"); }), Not(HasSubstr("\xFF")));
    EXPECT_EQ(given.text("OK"), "gr\xC3\xBC\xC3\x9F");
}

TEST(environment, secrets_are_never_shown) {
    for (const auto* key : {"DB_PASSWORD", "API_TOKEN", "CLIENT_SECRET", "SIGNING_KEY", "apikey"}) {
        for (const auto* value : {"hunter2", "hunter2\xFF"}) {
            const auto given = with({{"APP_" + std::string(key), value}});
            EXPECT_THAT(refusal([&] { given.parse<int>(key); }), AllOf(HasSubstr(key), Not(HasSubstr("hunter2"))));
            EXPECT_THAT(given.describe(key), Not(HasSubstr("hunter2")));
        }
    }
    const auto given = environment::from_pairs("TOKEN", {{"TOKEN_MIN_CONSUMERS", "9"}, {"TOKEN_MAX_CONSUMERS", "8"}});
    EXPECT_THAT(refusal([&] { shove::consumer_options_from(given); }), Not(HasSubstr("'9'")));
}

TEST(environment, shown_values_are_harmless_and_short) {
    EXPECT_THAT(int_refusal("a\033[31m\nb"), HasSubstr("'a?[31m?b'"));
    EXPECT_LT(int_refusal(std::string(100'000, 'x')).size(), 400U);
}

TEST(environment, the_process_is_read_when_asked_and_only_then) {
    ::setenv("SHOVE_TEST_ENV_A", "1", 1);
    const auto given = environment::from_env("SHOVE_TEST_ENV");
    const auto all = environment::from_env("");
    ::setenv("SHOVE_TEST_ENV_A", "2", 1);
    EXPECT_EQ(given.parse<int>("A"), 1);
    EXPECT_EQ(all.parse<int>("SHOVE_TEST_ENV_A"), 1);
    EXPECT_EQ(environment::from_env("SHOVE_TEST_ENV").parse<int>("A"), 2);
    ::unsetenv("SHOVE_TEST_ENV_A");
    EXPECT_FALSE(environment::from_env("SHOVE_TEST_ENV").text("A"));
}

// ---- typed readers ----

TEST(environment_readers, consumers_are_not_given_unless_a_variable_says_so) {
    const auto options = shove::consumer_options_from(with({{"OTHER_MIN_CONSUMERS", "5"}}));
    EXPECT_FALSE(options.consumers.given());
    EXPECT_FALSE(options.prefetch.given());
}

TEST(environment_readers, the_maximum_is_the_minimum_unless_said) {
    const auto range = [](environment::variables given) {
        const auto found = shove::consumer_options_from(with(std::move(given))).consumers.value();
        return std::pair(found.min, found.max);
    };
    EXPECT_EQ(range({{"APP_MIN_CONSUMERS", "3"}}), std::pair(3U, 3U));
    EXPECT_EQ(range({{"APP_MAX_CONSUMERS", "8"}}), std::pair(1U, 8U));
    EXPECT_EQ(range({{"APP_MIN_CONSUMERS", "65535"}, {"APP_MAX_CONSUMERS", "65535"}}), std::pair(65535U, 65535U));
    EXPECT_THAT(refusal([&] {
                    range({{"APP_MIN_CONSUMERS", "3"}, {"APP_MAX_CONSUMERS", "2"}});
                }),
                AllOf(HasSubstr("APP_MIN_CONSUMERS is '3'"), HasSubstr("APP_MAX_CONSUMERS is '2'")));
}

TEST(environment_readers, prefetch) {
    EXPECT_EQ(shove::consumer_options_from(with({{"APP_PREFETCH_COUNT", "200"}})).prefetch.value(), 200U);
}

TEST(environment_readers, code_wins_afterwards) {
    auto options = shove::consumer_options_from(with({{"APP_PREFETCH_COUNT", "200"}}));
    options.prefetch = 5U;
    EXPECT_EQ(options.prefetch.value(), 5U);
}

TEST(environment_readers, autoscaler) {
    const shove::autoscaler_options usual;
    const auto none = shove::autoscaler_options_from(with({}));
    EXPECT_EQ(std::tuple(none.poll, none.up, none.down, none.hysteresis, none.cooldown),
              std::tuple(usual.poll, usual.up, usual.down, usual.hysteresis, usual.cooldown));
    const auto all = shove::autoscaler_options_from(with({{"APP_POLL_INTERVAL_SECS", "1"},
                                                          {"APP_SCALE_UP_MULTIPLIER", "3.5"},
                                                          {"APP_SCALE_DOWN_MULTIPLIER", "0.25"},
                                                          {"APP_HYSTERESIS_SECS", "0"},
                                                          {"APP_COOLDOWN_SECS", "60"}}));
    EXPECT_EQ(std::tuple(all.poll, all.up, all.down, all.hysteresis, all.cooldown), std::tuple(1s, 3.5, 0.25, 0s, 60s));
}

TEST(environment_readers, down_must_be_under_up) {
    EXPECT_THAT(refusal([] {
                    shove::autoscaler_options_from(with({{"APP_SCALE_UP_MULTIPLIER", "0.5"}}));
                }),
                AllOf(HasSubstr("APP_SCALE_UP_MULTIPLIER is '0.5'"), HasSubstr("APP_SCALE_DOWN_MULTIPLIER is not set"),
                      HasSubstr("0.5")));
}

struct reader {
    std::span<const shove::environment_key> keys;
    std::function<void(const environment&)> read;
};

const std::vector<reader> readers{
    {shove::consumer_environment_keys(), [](const environment& from) { shove::consumer_options_from(from); }},
    {shove::autoscaler_environment_keys(), [](const environment& from) { shove::autoscaler_options_from(from); }},
};

TEST(environment_readers, each_listed_variable_is_read_and_refused_as_listed) {
    for (const auto& each : readers) {
        for (const auto& key : each.keys) {
            for (const auto* bad : {"nonsense", "-1", "99999999999999999999999e999"}) {
                const auto given = with({{"APP_" + std::string(key.name), bad}});
                EXPECT_THAT(refusal([&] { each.read(given); }),
                            AllOf(HasSubstr("APP_" + std::string(key.name)), HasSubstr("'" + std::string(bad) + "'"),
                                  HasSubstr(key.expected.substr(0, 15))));
            }
            if (key.otherwise == "the minimum") continue;
            // What is listed as the default is a value that is taken.
            each.read(with({{"APP_" + std::string(key.name), std::string(key.otherwise)}}));
        }
    }
}

/// The first three cells of the guide's rows that begin with a variable.
std::vector<std::string> rows_of_the_guide() {
    std::ifstream guide(SHOVE_ENVIRONMENT_GUIDE);
    std::vector<std::string> rows;
    for (std::string line; std::getline(guide, line);) {
        if (line.starts_with("| `")) rows.push_back(line);
    }
    return rows;
}

TEST(environment_readers, the_guide_lists_just_these_variables) {
    std::vector<std::string> expected;
    for (const auto& each : readers) {
        for (const auto& key : each.keys) {
            expected.push_back("| `" + std::string(key.name) + "` | " + std::string(key.expected) + " | " +
                               std::string(key.otherwise) + " |");
        }
    }
    EXPECT_EQ(rows_of_the_guide().size(), expected.size());
    for (const auto& row : expected)
        EXPECT_THAT(rows_of_the_guide(), testing::Contains(testing::StartsWith(row)));
}

}  // namespace
