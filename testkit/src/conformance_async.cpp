#include "stage.hpp"

#include <shove/async.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>

namespace shove::testkit {
namespace {

namespace asio = boost::asio;

struct async_topic : shove::topic<std::string, raw> {
    static constexpr auto topology = shove::topology("testkit-async").hold(std::chrono::milliseconds(1)).dlq();
};
struct undeclared_topic : shove::topic<std::string, raw> {
    static constexpr auto topology = shove::topology("testkit-async-undeclared");
};

template <class T>
T get(std::future<T> from) {
    if (from.wait_for(patience()) != std::future_status::ready) throw impatience("a future");
    return from.get();
}

void callback(stage& on) {
    on.broker().declare<async_topic>();
    const recorder<std::pair<error_code, std::string>> ended;
    on.publisher().async_publish<async_topic>(a_body, {}, [ended](error_code code, const receipt& got) {
        ended.add({code, got.id()});
    });
    const auto [code, id] = ended.wait(1, "the callback").front();
    EXPECT_FALSE(code) << code.message();
    EXPECT_FALSE(id.empty());
    EXPECT_EQ(on.broker().depth<async_topic>().ready, 1U);
}

void future(stage& on) {
    on.broker().declare<async_topic>();
    const auto got = get(on.publisher().async_publish<async_topic>(a_body, {}, asio::use_future));
    EXPECT_FALSE(got.id().empty());
    EXPECT_EQ(on.broker().depth<async_topic>().ready, 1U);
}

void error_by_callback(stage& on) {
    const recorder<error_code> ended;
    on.publisher().async_publish<undeclared_topic>(a_body, {},
                                                   [ended](error_code code, const receipt&) { ended.add(code); });
    EXPECT_EQ(ended.wait(1, "the callback").front(), make_error_code(errc::unknown_queue));
}

void error_by_future(stage& on) {
    auto waiting = on.publisher().async_publish<undeclared_topic>(a_body, {}, asio::use_future);
    EXPECT_THROW(get(std::move(waiting)), boost::system::system_error);
}

void batch_by_callback(stage& on) {
    on.broker().declare<async_topic>();
    const recorder<std::pair<error_code, batch_report>> ended;
    const auto bodies = numbered_bodies(3);
    on.publisher().async_publish_batch<async_topic>(bodies, {}, [ended](error_code code, batch_report report) {
        ended.add({code, std::move(report)});
    });
    const auto [code, report] = ended.wait(1, "the callback").front();
    EXPECT_FALSE(code) << code.message();
    EXPECT_EQ(report.each.size(), 3U);
    EXPECT_TRUE(report.all_stored());
}

void batch_error_by_callback(stage& on) {
    const recorder<std::pair<error_code, batch_report>> ended;
    const auto bodies = numbered_bodies(2);
    on.publisher().async_publish_batch<undeclared_topic>(bodies, {}, [ended](error_code code, batch_report report) {
        ended.add({code, std::move(report)});
    });
    const auto [code, report] = ended.wait(1, "the callback").front();
    EXPECT_EQ(code, make_error_code(errc::unknown_queue));
    EXPECT_EQ(report.to_republish().size(), 2U);
}

asio::awaitable<std::size_t> publish_some(any_publisher publisher, std::size_t n) {
    std::size_t stored = 0;
    const publish_options how;
    const std::string body = a_body;
    for (std::size_t i = 0; i < n; ++i) {
        const auto got = co_await publisher.async_publish<async_topic>(body, how, asio::use_awaitable);
        if (!got.id().empty()) ++stored;
    }
    co_return stored;
}

void coroutine(stage& on) {
    on.broker().declare<async_topic>();
    asio::thread_pool pool(1);
    EXPECT_EQ(get(asio::co_spawn(pool, publish_some(on.publisher(), 5), asio::use_future)), 5U);
    EXPECT_EQ(on.broker().depth<async_topic>().ready, 5U);
    pool.join();
}

void many_at_once(stage& on) {
    on.broker().declare<async_topic>();
    const counter stored;
    const auto publisher = on.publisher();
    for (int i = 0; i < 500; ++i) {
        publisher.async_publish<async_topic>(a_body, {}, [stored](error_code code, const receipt&) {
            if (!code) stored.add();
        });
    }
    stored.wait(500, "stored messages");
    EXPECT_EQ(on.broker().depth<async_topic>().ready, 500U);
}

void after_close(stage& on) {
    on.broker().declare<async_topic>();
    const auto publisher = on.publisher();
    ASSERT_TRUE(on.broker().close());
    const recorder<error_code> ended;
    publisher.async_publish<async_topic>(a_body, {}, [ended](error_code code, const receipt&) { ended.add(code); });
    EXPECT_EQ(ended.wait(1, "the callback").front(), make_error_code(errc::closed));
    const auto refused = publisher.try_publish<async_topic>(a_body);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::closed);
    EXPECT_THROW(publisher.publish<async_topic>(a_body), exception);
    const auto bodies = numbered_bodies(2);
    const auto report = publisher.publish_batch<async_topic>(bodies);
    EXPECT_EQ(report.count(publish_status::ok), 0U);
    EXPECT_EQ(report.first_error(), errc::closed);
}

void declare_ping_close(stage& on) {
    get(on.broker().async_declare<async_topic>(asio::use_future));
    EXPECT_EQ(on.broker().depth<async_topic>().ready, 0U);
    get(on.broker().async_ping(5s, asio::use_future));
    get(on.broker().async_close(5s, asio::use_future));
    const recorder<error_code> ended;
    on.broker().async_ping(5s, [ended](error_code code) { ended.add(code); });
    EXPECT_EQ(ended.wait(1, "the callback").front(), make_error_code(errc::closed));
}

void async_run(stage& on) {
    on.broker().declare<async_topic>();
    const recorder<std::pair<error_code, run_outcome>> ended;
    std::stop_source stop;
    const counter calls;
    auto group = on.group();
    group.add<async_topic>([calls](const std::string&) {
        calls.add();
        return ack;
    });
    group.async_run(stop.get_token(), 10s, [ended](error_code code, run_outcome how) {
        ended.add({code, std::move(how)});
    });
    on.publisher().publish<async_topic>(a_body);
    calls.wait(1, "the call");
    EXPECT_EQ(ended.size(), 0U) << "it ended before its stop token";
    stop.request_stop();
    const auto [code, how] = ended.wait(1, "the end of the run").front();
    EXPECT_FALSE(code) << code.message();
    EXPECT_TRUE(how.clean());
    EXPECT_EQ(on.broker().depth<async_topic>().ready, 0U);
}

}  // namespace

void add_publish_async_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"async", "callback", &callback},
                            {"async", "future", &future},
                            {"async", "error_by_callback", &error_by_callback},
                            {"async", "error_by_future", &error_by_future},
                            {"async", "batch_by_callback", &batch_by_callback},
                            {"async", "batch_error_by_callback", &batch_error_by_callback},
                            {"async", "coroutine", &coroutine},
                            {"async", "many_at_once", &many_at_once},
                            {"async", "after_close", &after_close},
                            {"async", "declare_ping_close", &declare_ping_close},
                            {"async", "async_run", &async_run},
                        });
}

}  // namespace shove::testkit
