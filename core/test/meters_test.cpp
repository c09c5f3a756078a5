#include <shove/error.hpp>
#include <shove/metrics.hpp>

#include <gtest/gtest.h>

#include <map>

#include "observe/meter_board.hpp"

namespace shove::detail {
namespace {

using namespace std::chrono_literals;

/// What a reader is told, by "name label label".
class table final : public metric_reader {
public:
    std::map<std::string, double> numbers;
    std::map<std::string, std::vector<std::uint64_t>> histograms;
    std::map<std::string, double> sums;

    explicit table(const metrics& from) { from.read(*this); }
    void number(const metric_info& info, std::span<const std::string_view> labels, double value) override {
        EXPECT_EQ(labels.size(), info.labels.size());
        EXPECT_TRUE(numbers.emplace(name(info, labels), value).second) << "told twice: " << name(info, labels);
    }
    void histogram(const metric_info& info, std::span<const std::string_view> labels,
                   std::span<const std::uint64_t> counts, double sum) override {
        EXPECT_EQ(counts.size(), info.bounds.size() + 1);
        EXPECT_TRUE(histograms.emplace(name(info, labels), std::vector(counts.begin(), counts.end())).second);
        sums[name(info, labels)] = sum;
    }

private:
    static std::string name(const metric_info& info, std::span<const std::string_view> labels) {
        std::string text(info.name);
        for (const auto label : labels)
            text.append(" ").append(label);
        return text;
    }
};

TEST(meters, counts_outlive_their_consumer_gauges_do_not) {
    const metrics all;
    auto first = all.board()->consumer("orders", "");
    const auto second = all.board()->consumer("orders", "");
    first->consumed[0].add(3);
    second->consumed[0].add(4);
    first->in_flight.set(2);
    second->in_flight.set(5);
    EXPECT_EQ(all.value("messages_consumed_total", {"orders", "default", "ack"}), 7);
    EXPECT_EQ(all.value("messages_inflight", {"orders", "default"}), 7);
    EXPECT_EQ(all.value("consumers", {"orders", "default"}), 2);
    first.reset();
    EXPECT_EQ(all.value("messages_consumed_total", {"orders", "default", "ack"}), 7);
    EXPECT_EQ(all.value("messages_inflight", {"orders", "default"}), 5);
    EXPECT_EQ(all.value("consumers", {"orders", "default"}), 1);
}

TEST(meters, outlive_their_metrics) {
    auto all = std::make_unique<metrics>();
    const auto left = all->board()->consumer("orders", "");
    all.reset();
    left->consumed[0].add();
}

TEST(meters, samples_fall_into_their_buckets) {
    const metrics all;
    const auto of = all.board()->publisher("orders");
    of->took[0].note(100us);  // a bound belongs to its bucket
    of->took[0].note(101us);
    of->took[0].note(61s);
    of->took[0].note(-1s);  // a clock that jumps
    const table told(all);
    const auto& counts = told.histograms.at("message_publish_duration_seconds orders success");
    EXPECT_EQ(counts.front(), 2U);
    EXPECT_EQ(counts[1], 1U);
    EXPECT_EQ(counts.back(), 1U);
    EXPECT_DOUBLE_EQ(told.sums.at("message_publish_duration_seconds orders success"), 61.000201);
    EXPECT_EQ(all.value("message_publish_duration_seconds", {"orders", "success"}), 4);
}

TEST(meters, too_many_topics_share_a_label) {
    const metrics all({.max_topics = 2});
    all.board()->publisher("a")->published[0].add();
    all.board()->publisher("b")->published[0].add();
    all.board()->publisher("c")->published[0].add();
    all.board()->publisher("d")->published[0].add();
    all.board()->publisher("a")->published[0].add();
    EXPECT_EQ(all.value("messages_published_total", {"a", "success"}), 2);
    EXPECT_EQ(all.value("messages_published_total", {"other", "success"}), 2);
    EXPECT_EQ(all.value("messages_published_total", {"c", "success"}), 0);
}

TEST(meters, an_unknown_name_is_an_error) {
    const metrics all;
    EXPECT_THROW((void)all.value("no_such_total", {}), exception);
    EXPECT_EQ(all.value("messages_published_total", {"never", "seen"}), 0);
}

TEST(meters, each_series_is_told_once) {
    const metrics all;
    const auto a = all.board()->consumer("orders", "");
    const auto b = all.board()->consumer("orders", "billing");
    const auto c = all.board()->publisher("orders");
    const auto d = all.board()->scaling("orders");
    const auto e = all.board()->depth("orders");
    const auto f = all.board()->broker("inprocess");
    for (auto* each : {a.get(), b.get()}) {
        for (auto& one : each->consumed)
            one.add();
        for (auto& one : each->failed)
            one.add();
        for (auto& one : each->discarded)
            one.add();
        for (auto& one : each->took)
            one.note(1ms);
        each->sizes.add(1, 1);
    }
    for (std::size_t i = 0; i < 2; ++i) {
        c->published[i].add();
        c->took[i].note(1ms);
    }
    f->audit_written.add();
    const table told(all);
    std::map<std::string, int> families;
    for (const auto& [name, value] : told.numbers)
        ++families[name.substr(0, name.find(' '))];
    for (const auto& [name, value] : told.histograms)
        ++families[name.substr(0, name.find(' '))];
    for (const auto& info : metric_catalog())
        EXPECT_EQ(families.count(std::string(info.name)), 1U) << info.name << " is never told";
    EXPECT_EQ(families.size(), metric_catalog().size());
}

}  // namespace
}  // namespace shove::detail
