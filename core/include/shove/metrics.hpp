#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace shove {

namespace detail {
class meter_board;
}

enum class metric_kind : std::uint8_t { counter, gauge, histogram };

/// One family of series: see docs/guide/metrics.md.
struct metric_info {
    std::string_view name;  ///< Without the prefix: `messages_consumed_total`.
    metric_kind kind = metric_kind::counter;
    std::span<const std::string_view> labels;  ///< Their names, in order.
    std::string_view help;
    std::span<const double>
        bounds{};  ///< Of a histogram: upper bounds of its buckets, all but the last (infinite) one.
};

/// Every family that shove knows, in a fixed order.
std::span<const metric_info> metric_catalog() noexcept;

/// Told the values of all series at one moment.
class metric_reader {
public:
    virtual ~metric_reader() = default;
    /// A counter or a gauge.
    /// @param labels  The values of `info.labels`, in order.
    virtual void number(const metric_info& info, std::span<const std::string_view> labels, double value) = 0;
    /// A histogram.
    /// @param counts  Per bucket, not cumulated; one more than `info.bounds`.
    virtual void histogram(const metric_info& info, std::span<const std::string_view> labels,
                           std::span<const std::uint64_t> counts, double sum) = 0;
};

struct metrics_options {
    /// Topics with series of their own; those beyond share the label `other`, so that names made up at run time cannot
    /// fill the memory of who collects.
    std::size_t max_topics = 1'000;
};

/// The measurements of one or several brokers: give it to `broker_options::metrics`, read it with `read`, or have
/// the component `prometheus` serve it. Nothing is measured by a broker that has none.
///
/// A consumer counts in memory of its own, without locks or shared cache lines, and whoever reads adds up.
/// No exporter's library is in a message's way. What a call costs is a reading of the clock, since the end of one is
/// the beginning of the next: see `make compare-metrics`.
/// @par Thread safety  All members may be called from several threads.
class metrics {
public:
    explicit metrics(metrics_options options = {});
    ~metrics();
    metrics(const metrics&) = delete;
    metrics& operator=(const metrics&) = delete;

    /// Tells the reader every series that has been touched so far. The reader runs without a lock of shove's.
    void read(metric_reader& reader) const;
    /// The value of one counter or gauge, the count of a histogram's samples; 0 if it was never touched.
    /// @param labels  In the order of its `metric_info::labels`.
    /// Throws `exception` (`invalid_argument`) if there is no such family.
    double value(std::string_view name, std::initializer_list<std::string_view> labels) const;

    const std::shared_ptr<detail::meter_board>& board() const noexcept { return board_; }

private:
    std::shared_ptr<detail::meter_board> board_;
};

}  // namespace shove
