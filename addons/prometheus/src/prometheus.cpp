#include <shove/prometheus.hpp>

#include <shove/error.hpp>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace shove {
namespace {

namespace prom = ::prometheus;

prom::MetricType type_of(metric_kind kind) {
    switch (kind) {
        case metric_kind::counter:
            return prom::MetricType::Counter;
        case metric_kind::gauge:
            return prom::MetricType::Gauge;
        case metric_kind::histogram:
            break;
    }
    return prom::MetricType::Histogram;
}

/// Puts what it is told into families; those of one name come together.
class family_maker final : public metric_reader {
public:
    std::vector<prom::MetricFamily> families;

    explicit family_maker(std::string prefix) : prefix_(std::move(prefix)) {}

    void number(const metric_info& info, std::span<const std::string_view> labels, double value) override {
        auto& made = add(info, labels);
        (info.kind == metric_kind::counter ? made.counter.value : made.gauge.value) = value;
    }
    void histogram(const metric_info& info, std::span<const std::string_view> labels,
                   std::span<const std::uint64_t> counts, double sum) override {
        auto& into = add(info, labels).histogram;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            into.sample_count += counts[i];
            const auto bound = i < info.bounds.size() ? info.bounds[i] : std::numeric_limits<double>::infinity();
            into.bucket.push_back({into.sample_count, bound});
        }
        into.sample_sum = sum;
    }

private:
    prom::ClientMetric& add(const metric_info& info, std::span<const std::string_view> labels) {
        auto name = prefix_ + "_" + std::string(info.name);
        if (families.empty() || families.back().name != name) {
            families.push_back({std::move(name), std::string(info.help), type_of(info.kind), {}});
        }
        auto& made = families.back().metric.emplace_back();
        for (std::size_t i = 0; i < labels.size(); ++i)
            made.label.push_back({std::string(info.labels[i]), std::string(labels[i])});
        return made;
    }
    const std::string prefix_;
};

std::vector<prom::MetricFamily> families_of(const metrics& from, const std::string& prefix) {
    family_maker maker(prefix);
    from.read(maker);
    return std::move(maker.families);
}

void check_prefix(const std::string& prefix) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const bool fine = !prefix.empty() && letter(prefix[0]) &&
                      std::ranges::all_of(prefix, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
    if (fine) return;
    throw exception(error(errc::invalid_argument, "the prefix of the metrics is '" + prefix +
                                                      "'; it must be letters, digits and '_', not beginning with a "
                                                      "digit"));
}

/// What a scrape collects.
class collected final : public prom::Collectable {
public:
    collected(std::shared_ptr<const metrics> from, std::string prefix)
        : from_(std::move(from)), prefix_(std::move(prefix)) {}
    std::vector<prom::MetricFamily> Collect() const override { return families_of(*from_, prefix_); }

private:
    const std::shared_ptr<const metrics> from_;
    const std::string prefix_;
};

std::unique_ptr<prom::Exposer> bind(const prometheus_options& options) {
    if (options.address.find(':') == std::string::npos) {
        throw exception(
            error(errc::invalid_argument, "the address of the metrics is '" + options.address + "'; give host:port"));
    }
    try {
        return std::make_unique<prom::Exposer>(options.address, std::max(1U, options.threads));
    } catch (const std::exception& e) {
        throw exception(error(errc::not_connected, "cannot serve metrics at '" + options.address + "': " + e.what() +
                                                       "; is the port taken?"));
    }
}

}  // namespace

class prometheus_exporter::server {
public:
    server(std::shared_ptr<const metrics> from, const prometheus_options& options)
        : all_(std::make_shared<collected>(std::move(from), options.prefix)), exposer_(bind(options)) {
        exposer_->RegisterCollectable(all_, options.path);
    }
    int port() const {
        const auto ports = exposer_->GetListeningPorts();
        return ports.empty() ? 0 : ports.front();
    }

private:
    const std::shared_ptr<collected> all_;
    const std::unique_ptr<prom::Exposer> exposer_;
};

prometheus_exporter::prometheus_exporter(std::shared_ptr<const metrics> from, prometheus_options options) {
    check_prefix(options.prefix);
    server_ = std::make_unique<server>(std::move(from), options);
}

prometheus_exporter::~prometheus_exporter() = default;

int prometheus_exporter::port() const {
    return server_->port();
}

std::string prometheus_text(const metrics& from, const std::string& prefix) {
    check_prefix(prefix);
    return prom::TextSerializer().Serialize(families_of(from, prefix));
}

}  // namespace shove
