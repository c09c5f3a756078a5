#include "meter_board.hpp"

#include <algorithm>
#include <array>

#include "metric_catalog.hpp"

namespace shove::detail {
namespace {

/// The label of consumers that belong to no reader group, as the reference has it.
constexpr std::string_view no_group = "default";
/// The label of topics over `metrics_options::max_topics`.
constexpr std::string_view beyond = "other";

template <class From, class To, std::size_t N>
void add(std::array<To, N>& to, const std::array<From, N>& from) {
    for (std::size_t i = 0; i < N; ++i)
        to[i].add(from[i].get());
}

template <class Cell, const auto& Bounds>
void add(histogram_cells<Cell, Bounds>& to, const histogram_cells<Cell, Bounds>& from) {
    add(to.buckets, from.buckets);
    to.sum.add(from.sum.get());
}

void add_counts(consumer_meters& to, const consumer_meters& from) {
    add(to.consumed, from.consumed);
    add(to.failed, from.failed);
    add(to.discarded, from.discarded);
    for (std::size_t i = 0; i < to.took.size(); ++i)
        add(to.took[i], from.took[i]);
    add(to.sizes, from.sizes);
    to.leases_lost.add(from.leases_lost.get());
    to.settle_retries.add(from.settle_retries.get());
}

void add_gauges(consumer_meters& to, const consumer_meters& from) {
    to.in_flight.add(from.in_flight.get());
    to.stuck.add(from.stuck.get());
    to.consumers.add(from.consumers.get());
}

/// One value as it will be told.
struct sample {
    family which{};
    std::vector<std::string> labels;
    double value = 0;                     ///< Of a histogram: the sum.
    std::vector<std::uint64_t> counts{};  ///< Of a histogram.
};

/// Collects samples; leaves out what was never touched.
class sampling {
public:
    std::vector<sample> samples;

    void counter(family which, std::vector<std::string> labels, std::uint64_t value) {
        if (value > 0) number(which, std::move(labels), static_cast<double>(value));
    }
    void number(family which, std::vector<std::string> labels, double value) {
        samples.push_back({which, std::move(labels), value});
    }
    template <class Cell, const auto& Bounds>
    void histogram(family which, std::vector<std::string> labels, const histogram_cells<Cell, Bounds>& cells,
                   double unit) {
        std::vector<std::uint64_t> counts;
        counts.reserve(cells.buckets.size());
        for (const auto& bucket : cells.buckets)
            counts.push_back(bucket.get());
        if (std::ranges::all_of(counts, [](auto n) { return n == 0; })) return;
        samples.push_back({which, std::move(labels), static_cast<double>(cells.sum.get()) * unit, std::move(counts)});
    }
};

void sample_consumers(sampling& to, const std::string& topic, const std::string& group, const consumer_meters& all) {
    const auto with = [&](std::string_view last) { return std::vector<std::string>{topic, group, std::string(last)}; };
    for (std::size_t i = 0; i < outcome_names.size(); ++i) {
        to.counter(family::consumed, with(outcome_names[i]), all.consumed[i].get());
        to.histogram(family::processing_time, with(outcome_names[i]), all.took[i], 1e-9);
    }
    for (std::size_t i = 0; i < failure_reasons.size(); ++i) {
        to.counter(family::failed, with(failure_reasons[i]), all.failed[i].get());
        to.counter(family::discarded, with(failure_reasons[i]), all.discarded[i].get());
    }
    const std::vector<std::string> both{topic, group};
    to.histogram(family::size, both, all.sizes, 1);
    to.number(family::in_flight, both, static_cast<double>(all.in_flight.get()));
    to.number(family::stuck, both, static_cast<double>(all.stuck.get()));
    to.number(family::consumers, both, static_cast<double>(all.consumers.get()));
    to.number(family::leases_lost, both, static_cast<double>(all.leases_lost.get()));
    to.number(family::settle_retries, both, static_cast<double>(all.settle_retries.get()));
}

void sample_publisher(sampling& to, const std::string& topic, const publish_meters& all) {
    constexpr std::array<const char*, 2> outcomes{"success", "error"};
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        to.counter(family::published, {topic, outcomes[i]}, all.published[i].get());
        to.histogram(family::publish_time, {topic, outcomes[i]}, all.took[i], 1e-9);
    }
}

void sample_scaling(sampling& to, const std::string& queue, const scaling_meters& all) {
    constexpr std::array<const char*, 3> directions{"hold", "up", "down"};
    for (std::size_t i = 0; i < directions.size(); ++i)
        to.number(family::decisions, {queue, directions[i]}, static_cast<double>(all.decisions[i].get()));
    to.number(family::scaled_ready, {queue}, static_cast<double>(all.ready.get()));
    to.number(family::scaled_in_flight, {queue}, static_cast<double>(all.in_flight.get()));
    to.number(family::scaled_consumers, {queue}, static_cast<double>(all.consumers.get()));
}

void sample_depth(sampling& to, const std::string& topic, const depth_meters& all) {
    to.number(family::backlog, {topic}, static_cast<double>(all.backlog.get()));
    to.number(family::queue_in_flight, {topic}, static_cast<double>(all.in_flight.get()));
    to.number(family::delayed, {topic}, static_cast<double>(all.delayed.get()));
    to.number(family::dead_letters, {topic}, static_cast<double>(all.dead_letters.get()));
    to.number(family::oldest_age, {topic}, static_cast<double>(all.oldest_ms.get()) * 1e-3);
}

void sample_broker(sampling& to, const std::string& backend, const broker_meters& all) {
    for (std::size_t i = 0; i < error_kinds.size(); ++i) {
        const std::vector<std::string> labels{backend, std::string(error_kinds[i])};
        to.number(family::backend_errors, labels, static_cast<double>(all.errors[i].get()));
    }
    to.number(family::respawned, {backend}, static_cast<double>(all.respawned.get()));
    to.counter(family::audit_records, {backend, "written"}, all.audit_written.get());
    to.counter(family::audit_records, {backend, "failed"}, all.audit_failed.get());
    to.counter(family::audit_records, {backend, "dropped"}, all.audit_dropped.get());
}

}  // namespace

std::size_t reason_index(std::string_view reason) noexcept {
    const auto at = std::ranges::find(failure_reasons, reason);
    return at == failure_reasons.end() ? 0 : static_cast<std::size_t>(at - failure_reasons.begin());
}

/// With the lock held: the topic's label.
std::string meter_board::bounded(std::string_view topic) {
    if (topics_.contains(topic)) return std::string(topic);
    if (topics_.size() >= options_.max_topics) return std::string(beyond);
    topics_.emplace(topic);
    return std::string(topic);
}

template <class T>
std::shared_ptr<T> meter_board::find(by_name<T>& in, std::string_view name) {
    const auto at = in.find(name);
    if (at != in.end()) return at->second;
    return in.emplace(name, std::make_shared<T>()).first->second;
}

std::shared_ptr<consumer_meters> meter_board::consumer(std::string_view topic, std::string_view group) {
    auto made = std::make_unique<consumer_meters>();
    made->consumers.set(1);
    const std::lock_guard lock(mutex_);
    name_pair whose{bounded(topic), group.empty() ? no_group : group};
    consumers_[whose].live.push_back(made.get());
    return {made.release(), [board = shared_from_this(), whose](consumer_meters* ended) {
                board->retire(whose, ended);
                delete ended;
            }};
}

void meter_board::retire(const name_pair& whose, const consumer_meters* ended) {
    const std::lock_guard lock(mutex_);
    auto& of = consumers_[whose];
    add_counts(of.gone, *ended);
    std::erase(of.live, ended);
}

std::shared_ptr<publish_meters> meter_board::publisher(std::string_view topic) {
    const std::lock_guard lock(mutex_);
    if (const auto at = publishers_.find(topic); at != publishers_.end()) return at->second;
    return find(publishers_, bounded(topic));
}

std::shared_ptr<scaling_meters> meter_board::scaling(std::string_view queue) {
    const std::lock_guard lock(mutex_);
    return find(scalings_, bounded(queue));
}

std::shared_ptr<depth_meters> meter_board::depth(std::string_view topic) {
    const std::lock_guard lock(mutex_);
    return find(depths_, bounded(topic));
}

std::shared_ptr<broker_meters> meter_board::broker(std::string_view backend) {
    const std::lock_guard lock(mutex_);
    return find(brokers_, backend);
}

void meter_board::read(metric_reader& reader) const {
    sampling all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [whose, of] : consumers_) {
            consumer_meters sum;
            add_counts(sum, of.gone);
            for (const auto* one : of.live) {
                add_counts(sum, *one);
                add_gauges(sum, *one);
            }
            sample_consumers(all, whose.first, whose.second, sum);
        }
        for (const auto& [topic, of] : publishers_)
            sample_publisher(all, topic, *of);
        for (const auto& [queue, of] : scalings_)
            sample_scaling(all, queue, *of);
        for (const auto& [topic, of] : depths_)
            sample_depth(all, topic, *of);
        for (const auto& [backend, of] : brokers_)
            sample_broker(all, backend, *of);
    }
    std::ranges::stable_sort(all.samples, {}, &sample::which);
    for (const auto& each : all.samples) {
        const auto& info = info_of(each.which);
        const std::vector<std::string_view> labels(each.labels.begin(), each.labels.end());
        if (info.kind == metric_kind::histogram) {
            reader.histogram(info, labels, each.counts, each.value);
        } else {
            reader.number(info, labels, each.value);
        }
    }
}

}  // namespace shove::detail
