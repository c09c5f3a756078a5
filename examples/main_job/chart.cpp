#include "chart.hpp"

#include "plot.hpp"
#include "svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace main_job {
namespace {

constexpr double picture_width = 1000;
constexpr double picture_height = 800;
constexpr double left_edge = 80;
constexpr double plot_width = 880;

constexpr std::string_view blue = "#2563eb";
constexpr std::string_view green = "#059669";
constexpr std::string_view amber = "#d97706";
constexpr std::string_view red = "#dc2626";
constexpr std::string_view slate = "#64748b";

std::string with(const char* form, double value) {
    char text[64];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

/// Time in equal parts, and what fell into each.
class slices {
public:
    slices(const job_result& result, const timeline& times) : times_(times) {
        step_ = round_step(result.seconds / 60);
        count_ = static_cast<std::size_t>(std::ceil(result.seconds / step_));
        count_ = std::max<std::size_t>(count_, 1);
    }
    double end() const { return step_ * static_cast<double>(count_); }

    std::vector<point> published_rate() const {
        std::vector<double> sums(count_);
        for (const auto& [at, messages] : times_.publishes())
            sums[slice_of(at)] += messages;
        return rates(sums);
    }
    std::vector<point> filed_rate() const {
        std::vector<double> sums(count_);
        for (const auto& c : times_.calls())
            sums[slice_of(c.at_s)] += c.kind == call_kind::turned_away ? 0 : 1;
        return rates(sums);
    }
    /// A quantile of the time from publish to the first call, for each slice that has any.
    std::vector<point> first_wait(double share) const {
        std::vector<std::vector<double>> waits(count_);
        for (const auto& c : times_.calls()) {
            if (c.attempt == 1) waits[slice_of(c.at_s)].push_back(c.waited_ms);
        }
        std::vector<point> line;
        for (std::size_t i = 0; i < count_; ++i) {
            if (!waits[i].empty()) line.push_back({middle(i), quantile(waits[i], share)});
        }
        return line;
    }

private:
    std::size_t slice_of(double at) const {
        return std::min(static_cast<std::size_t>(std::max(at, 0.0) / step_), count_ - 1);
    }
    double middle(std::size_t i) const { return (static_cast<double>(i) + 0.5) * step_; }
    std::vector<point> rates(const std::vector<double>& sums) const {
        std::vector<point> line;
        for (std::size_t i = 0; i < count_; ++i)
            line.push_back({middle(i), sums[i] / step_});
        return line;
    }

    const timeline& times_;
    double step_ = 1;
    std::size_t count_ = 1;
};

double highest(const std::vector<point>& line) {
    double top = 0;
    for (const auto& p : line)
        top = std::max(top, p.y);
    return top;
}

void draw_title(svg& on, const job_result& result) {
    on.text({left_edge - 46, 44}, "10,000 wildlife strikes through a durable queue", "start", 22, "#0f172a", true);
    on.text({left_edge - 46, 68},
            grouped(result.published) + " records published, worked and settled on SQLite in " +
                with("%.2f s", result.seconds) + " (" +
                grouped(static_cast<std::uint64_t>(static_cast<double>(result.published) / result.seconds)) +
                " a second), every commit on the disk",
            "start", 13, slate);
}

void draw_throughput(svg& on, const slices& parts) {
    const auto published = parts.published_rate();
    const auto filed = parts.filed_rate();
    const auto step = round_step(std::max(highest(published), highest(filed)) / 4);
    const auto top = step * std::ceil(std::max({highest(published), highest(filed), 1.0}) / step);
    const plot chart(on, {left_edge, 118, plot_width, 170}, parts.end(), {0, top, false, "messages per second"});
    on.text({left_edge - 46, 103}, "Throughput", "start", 14, "#0f172a", true);
    std::vector<double> ticks;
    for (double v = 0; v <= top * 1.001; v += step)
        ticks.push_back(v);
    chart.axes(ticks);
    chart.curve(published, blue, true);
    chart.curve(filed, green, true);
    chart.legend(190, "published", blue);
    chart.legend(85, "settled", green);
}

void draw_latency(svg& on, const slices& parts) {
    const auto median = parts.first_wait(0.5);
    const auto late = parts.first_wait(0.99);
    const auto high = std::pow(10.0, std::ceil(std::log10(std::max(highest(late), 10.0))));
    double low = high / 10;
    for (const auto& p : median)
        low = std::min(low, p.y);
    low = std::pow(10.0, std::floor(std::log10(std::max(low, 0.01))));
    const plot chart(on, {left_edge, 378, plot_width, 150}, parts.end(), {low, high, true, "milliseconds (log)"});
    on.text({left_edge - 46, 363}, "From publish to first call", "start", 14, "#0f172a", true);
    std::vector<double> ticks;
    for (double v = low; v <= high * 1.001; v *= 10)
        ticks.push_back(v);
    chart.axes(ticks);
    chart.curve(late, amber, false);
    chart.curve(median, blue, false);
    chart.legend(190, "median", blue);
    chart.legend(85, "99 %", amber);
}

struct bar {
    std::string name;
    std::uint64_t count = 0;
    std::string_view colour;
};

/// One row: a name, a bar, the count behind it.
void draw_bar(svg& on, point at, double room, const bar& what, std::uint64_t most) {
    const auto length = std::max(2.0, room * static_cast<double>(what.count) / static_cast<double>(most));
    on.rectangle(at, length, 19, what.colour, 3);
    on.text({at.x + length + 7, at.y + 14}, grouped(what.count), "start", 12, "#0f172a", true);
}

std::uint64_t longest(const std::vector<bar>& bars) {
    std::uint64_t most = 1;
    for (const auto& b : bars)
        most = std::max(most, b.count);
    return most;
}

/// How the records ended: names beside the bars.
void draw_outcomes(svg& on, point at, const job_result& result, const timeline& times) {
    std::array<std::uint64_t, 3> filed_at{};
    for (const auto& c : times.calls()) {
        if (c.kind == call_kind::filed) ++filed_at[std::min<std::uint32_t>(c.attempt, 3) - 1];
    }
    const std::vector<bar> ends{{"filed at the first call", filed_at[0], green},
                                {"after one retry (200 ms)", filed_at[1], blue},
                                {"after two (1 s more)", filed_at[2], blue},
                                {"dead letters", result.dead, red}};
    on.text(at, "How the records ended", "start", 14, "#0f172a", true);
    auto y = at.y + 18;
    for (const auto& b : ends) {
        on.text({at.x + 162, y + 14}, b.name, "end", 12);
        draw_bar(on, {at.x + 170, y}, 200, b, longest(ends));
        y += 30;
    }
}

/// At most `characters` of a text, with a mark where more was.
std::string shortened(const std::string& text, std::size_t characters) {
    return text.size() <= characters ? text : text.substr(0, characters - 3) + "...";
}

/// Why letters are dead: texts of any length, so they stand above the bars.
void draw_reasons(svg& on, point at, const job_result& result) {
    std::vector<bar> reasons;
    for (const auto& d : result.dead_by_reason)
        reasons.push_back({shortened(d.reason, 64), d.letters, red});
    if (reasons.size() > 4) reasons.resize(4);
    on.text(at, "Dead letters by reason", "start", 14, "#0f172a", true);
    auto y = at.y + 24;
    for (const auto& b : reasons) {
        on.text({at.x, y}, b.name, "start", 12);
        draw_bar(on, {at.x, y + 6}, 360, b, longest(reasons));
        y += 44;
    }
    on.text({at.x, y + 4}, std::to_string(result.handled_after_fix) + " of them replayed after a fix, and handled",
            "start", 12, slate);
}

}  // namespace

std::string grouped(std::uint64_t number) {
    auto text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return text;
}

std::string draw_summary(const job_result& result, const timeline& times) {
    svg picture(picture_width, picture_height);
    const slices parts(result, times);
    draw_title(picture, result);
    draw_throughput(picture, parts);
    draw_latency(picture, parts);
    draw_outcomes(picture, {left_edge - 46, 610}, result, times);
    draw_reasons(picture, {520, 610}, result);
    return picture.document();
}

}  // namespace main_job
