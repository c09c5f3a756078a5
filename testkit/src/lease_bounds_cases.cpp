#include <limits>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

template <class Change>
error_code published_with(const lease_broker& to, Change change) {
    static int number = 0;
    auto message = message_of("k" + std::to_string(++number), "x");
    change(message);
    const auto answer = to.publish(message);
    if (!answer) {
        EXPECT_EQ(answer.error().detail.find("SECRET"), std::string::npos) << answer.error().detail;
    }
    return code_of(answer);
}

constexpr auto none = error_code();

void names(lease_stage& on) {
    const auto broker = on.open();
    const auto topic = [&](std::string value) {
        return published_with(broker, [&](auto& m) { m.topic = std::move(value); });
    };
    EXPECT_EQ(topic(std::string(255, 't')), none);
    EXPECT_EQ(topic(std::string(256, 't')), errc::invalid_argument);
    EXPECT_EQ(topic(""), errc::invalid_argument);
    EXPECT_EQ(topic("A-z0.9_:"), none);
    EXPECT_EQ(topic("a/b"), errc::invalid_argument);
    EXPECT_EQ(topic("\xc3\xa9"), errc::invalid_argument);
    const auto kind = [&](std::string value) {
        return published_with(broker, [&](auto& m) { m.event_kind = std::move(value); });
    };
    EXPECT_EQ(kind(std::string(128, 'k')), none);
    EXPECT_EQ(kind(std::string(129, 'k')), errc::invalid_argument);
    EXPECT_EQ(kind("SECRET kind"), errc::invalid_argument);
    const auto key = [&](std::string value) {
        return published_with(broker, [&](auto& m) { m.idempotency_key = std::move(value); });
    };
    EXPECT_EQ(key(std::string(255, '/')), none);
    EXPECT_EQ(key(std::string(256, '/')), errc::invalid_argument);
    EXPECT_EQ(key("SECRET key"), errc::invalid_argument);
    EXPECT_EQ(key(""), errc::invalid_argument);
}

void content_types(lease_stage& on) {
    const auto broker = on.open();
    const auto type = [&](std::string value) {
        return published_with(broker, [&](auto& m) { m.content_type = std::move(value); });
    };
    EXPECT_EQ(type("a/" + std::string(125, 'b')), none);
    EXPECT_EQ(type("a/" + std::string(126, 'b')), errc::invalid_argument);
    EXPECT_EQ(type("application/vnd.x+json"), none);
    for (const auto* bad : {"", "text", "/x", "x/", "a/b/c", "text/plain; charset=utf-8", "te xt/plain", "a/\xc3\xa9"})
        EXPECT_EQ(type(bad), errc::invalid_argument) << bad;
}

void header_names_and_values(lease_stage& on) {
    const auto broker = on.open();
    const auto with = [&](std::string_view name, const header_value& value) {
        return published_with(broker, [&](auto& m) { m.headers.add(name, value); });
    };
    EXPECT_EQ(with(std::string(64, 'n'), "v"), none);
    EXPECT_EQ(with(std::string(65, 'n'), "v"), errc::invalid_argument);
    EXPECT_EQ(with("Upper", "v"), errc::invalid_argument);
    EXPECT_EQ(with("a-b_c.9", "v"), none);
    EXPECT_EQ(with("n", std::string(1'024, 'v')), none);
    EXPECT_EQ(with("n", std::string(1'025, 'v')), errc::invalid_argument);
    EXPECT_EQ(with("n", "SECRET\ttab"), errc::invalid_argument);
    EXPECT_EQ(with("n", "\xc2\x85"), errc::invalid_argument) << "U+0085 is a control character";
    EXPECT_EQ(with("n", "\xc2\xa0"), none);
    EXPECT_EQ(with("n", "\x7f"), errc::invalid_argument);
    EXPECT_EQ(with("n", "\xff"), errc::invalid_argument) << "no UTF-8";
    EXPECT_EQ(with("n", "\xed\xa0\x80"), errc::invalid_argument) << "a surrogate";
    EXPECT_EQ(with("n", "\xf0\x9f\x98\x80"), none);
    EXPECT_EQ(with("n", header_value(5)), errc::invalid_argument) << "a number is no text";
    EXPECT_EQ(published_with(broker, [](auto& m) { m.headers.add("n", "1").add("n", "2"); }), errc::invalid_argument);
}

void header_counts(lease_stage& on) {
    const auto broker = on.open();
    const auto many = [&](int count, std::size_t each) {
        return published_with(broker, [&](auto& m) {
            for (int i = 0; i < count; ++i)
                m.headers.add("h" + std::to_string(10 + i), std::string(each, 'v'));
        });
    };
    EXPECT_EQ(many(32, 1), none);
    EXPECT_EQ(many(33, 1), errc::too_large);
    EXPECT_EQ(many(8, 1'021), none) << "8 x (3 + 1,021) = 8,192 bytes";
    EXPECT_EQ(published_with(broker,
                             [](auto& m) {
                                 for (int i = 0; i < 8; ++i)
                                     m.headers.add("h" + std::to_string(10 + i),
                                                   std::string(i == 0 ? 1'022 : 1'021, 'v'));
                             }),
              errc::too_large);
}

void payloads(lease_stage& on) {
    const auto broker = on.open(lease_stage::limited({10, 10, 5, 100}));
    const auto refused = broker.publish(message_of("k", std::string(101, 'x')));
    EXPECT_EQ(code_of(refused), errc::too_large);
    EXPECT_NE(refused.error().detail.find("payload"), std::string::npos);
    EXPECT_TRUE(broker.publish(message_of("k", std::string(100, 'x'))));
}

void requests(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    const auto with = [&](auto change) {
        auto what = request_of();
        change(what);
        return code_of(broker.receive(what));
    };
    EXPECT_EQ(with([](auto& r) { r.max = 0; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.max = 101; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.max = 100; }), none);
    EXPECT_EQ(with([](auto& r) { r.lease = 999ms; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.lease = 1s; }), none);
    EXPECT_EQ(with([](auto& r) { r.lease = 1h; }), none);
    EXPECT_EQ(with([](auto& r) { r.lease = 1h + 1ms; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.lease = milliseconds::max(); }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.wait = -1ms; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.wait = 1h + 1ms; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.consumer = std::string(128, 'c'); }), none);
    EXPECT_EQ(with([](auto& r) { r.consumer = std::string(129, 'c'); }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.consumer = ""; }), errc::invalid_argument);
    EXPECT_EQ(with([](auto& r) { r.group = std::string(129, 'g'); }), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.subscribe("events", std::string(128, 'g'), {})), none);
    EXPECT_EQ(code_of(broker.subscribe("events", std::string(129, 'g'), {})), errc::invalid_argument);
}

void other_bounds(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    const auto letters = [&](std::size_t limit) {
        return code_of(broker.dead_letters({"events", "mailers", limit, 0}));
    };
    EXPECT_EQ(letters(0), errc::invalid_argument);
    EXPECT_EQ(letters(100), none);
    EXPECT_EQ(letters(101), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.purge("events", 0)), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.purge("events", 1'000)), none);
    EXPECT_EQ(code_of(broker.purge("events", 1'001)), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.redrive({"events", "mailers", {}, 0})), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.redrive({"events", "mailers", {}, 1'001})), errc::invalid_argument);
    const lease_token token;
    EXPECT_EQ(code_of(broker.dead_letter(token, std::string(129, 'c'))), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.dead_letter(token, "")), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.dead_letter(token, "Upper")), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.dead_letter(token, std::string(128, 'c'))), errc::unknown_lease);
    EXPECT_EQ(code_of(broker.extend(token, 999ms)), errc::invalid_argument);
    EXPECT_EQ(code_of(broker.extend(token, 1h + 1ms)), errc::invalid_argument);
}

void configurations(lease_stage& on) {
    lease_options options;
    const auto with = [&](lease_limits limits) {
        options.limits = limits;
        options.name_space = "space" + std::to_string(limits.retained_messages) + std::to_string(limits.subscriptions);
        return code_of(on.try_open(options));
    };
    EXPECT_EQ(with({1, 1, 1, 1}), none);
    EXPECT_EQ(with({100'000'000, 65'536, 100, 16'777'216}), none);
    EXPECT_EQ(with({0, 1, 1, 1}), errc::invalid_argument);
    EXPECT_EQ(with({100'000'001, 1, 1, 1}), errc::invalid_argument);
    EXPECT_EQ(with({1, 0, 1, 1}), errc::invalid_argument);
    EXPECT_EQ(with({1, 65'537, 1, 1}), errc::invalid_argument);
    EXPECT_EQ(with({1, 1, 0, 1}), errc::invalid_argument);
    EXPECT_EQ(with({1, 1, 101, 1}), errc::invalid_argument);
    EXPECT_EQ(with({1, 1, 1, 0}), errc::invalid_argument);
    EXPECT_EQ(with({1, 1, 1, 16'777'217}), errc::invalid_argument);
    options.limits = {};
    options.name_space = std::string(128, 'n');
    EXPECT_EQ(code_of(on.try_open(options)), none);
    for (const auto& bad : {std::string(), std::string(129, 'n'), std::string("a/b")}) {
        options.name_space = bad;
        EXPECT_EQ(code_of(on.try_open(options)), errc::invalid_argument);
    }
}

}  // namespace

void add_lease_bounds_cases(std::vector<lease_case>& into) {
    into.insert(into.end(), {{"bounds", "names", names},
                             {"bounds", "content_types", content_types},
                             {"bounds", "header_names_and_values", header_names_and_values},
                             {"bounds", "header_counts", header_counts},
                             {"bounds", "payloads", payloads},
                             {"bounds", "requests", requests},
                             {"bounds", "other_bounds", other_bounds},
                             {"bounds", "configurations", configurations}});
}

}  // namespace shove::testkit
