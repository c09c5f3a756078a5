// Messages in batches: one insert for many, and an outcome for each.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct page_view {
    std::string url;
    int milliseconds = 0;
};
BOOST_DESCRIBE_STRUCT(page_view, (), (url, milliseconds))

struct page_views : shove::topic<page_view> {
    static constexpr auto topology = shove::topology("page-views").hold(100ms).dlq();
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 10'000}};
    broker.declare<page_views>();
    std::vector<page_view> views;
    for (int i = 1; i <= 1'000; ++i)
        views.push_back({i % 250 == 0 ? "" : "/page/" + std::to_string(i), i});
    if (!broker.publisher().publish_batch<page_views>(views).all_stored()) return 1;

    std::latch handled(1'000);
    auto group = broker.consumer_group();
    group.add_batch<page_views>(
        [&](shove::batch<page_view>& all) {
            shove::outcomes each;
            for (const auto& view : all)
                each.push_back(view.url.empty() ? shove::reject("no url") : shove::ack);
            std::printf("%zu page views in one call\n", all.size());
            handled.count_down(static_cast<std::ptrdiff_t>(all.size()));
            return each;
        },
        {.max_messages = 300, .max_age = 50ms});
    group.start();
    handled.wait();
    const auto ended = group.stop(5s);
    const auto stats = group.stats<page_views>();
    std::printf("%llu stored, %llu dead letters\n", static_cast<unsigned long long>(stats.acked),
                static_cast<unsigned long long>(stats.dead_lettered));
    return ended.exit_code();
}
