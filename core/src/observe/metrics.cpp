#include <shove/metrics.hpp>

#include <shove/error.hpp>

#include <algorithm>
#include <numeric>

#include "meter_board.hpp"

namespace shove {
namespace {

/// Looks for one series.
class series_finder final : public metric_reader {
public:
    series_finder(std::string_view name, std::span<const std::string_view> labels) noexcept
        : name_(name), labels_(labels) {}

    void number(const metric_info& info, std::span<const std::string_view> labels, double value) override {
        if (matches(info, labels)) found = value;
    }
    void histogram(const metric_info& info, std::span<const std::string_view> labels,
                   std::span<const std::uint64_t> counts, double) override {
        if (matches(info, labels)) {
            found = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
        }
    }

    double found = 0;

private:
    bool matches(const metric_info& info, std::span<const std::string_view> labels) const {
        return info.name == name_ && std::ranges::equal(labels, labels_);
    }
    std::string_view name_;
    std::span<const std::string_view> labels_;
};

}  // namespace

metrics::metrics(metrics_options options) : board_(std::make_shared<detail::meter_board>(options)) {}

metrics::~metrics() = default;

void metrics::read(metric_reader& reader) const {
    board_->read(reader);
}

double metrics::value(std::string_view name, std::initializer_list<std::string_view> labels) const {
    const auto known = metric_catalog();
    if (std::ranges::find(known, name, &metric_info::name) == known.end()) {
        throw exception(error(errc::invalid_argument, "there is no metric '" + std::string(name) + "'"));
    }
    series_finder finder(name, std::span(labels.begin(), labels.size()));
    read(finder);
    return finder.found;
}

}  // namespace shove
