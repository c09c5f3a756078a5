#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace main_job {

double round_step(double least) {
    const auto power = std::pow(10.0, std::floor(std::log10(std::max(least, 1e-9))));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least * 0.999) return factor * power;
    }
    return 10 * power;
}

std::string tick_text(double value) {
    char text[32];
    const bool thousands = value >= 1'000;
    std::snprintf(text, sizeof text, thousands ? "%gk" : "%g", thousands ? value / 1000 : value);
    return text;
}

plot::plot(svg& on, frame where, double seconds, value_axis values)
    : on_(on), where_(where), seconds_(seconds), values_(values) {}

point plot::place(const point& data) const {
    const auto scaled = [&](double v) {
        if (!values_.logarithmic) return (v - values_.low) / (values_.high - values_.low);
        return std::log(std::max(v, values_.low) / values_.low) / std::log(values_.high / values_.low);
    };
    return {where_.left + where_.width * data.x / seconds_,
            where_.top + where_.height * (1 - std::clamp(scaled(data.y), 0.0, 1.0))};
}

void plot::axes(const std::vector<double>& value_ticks) const {
    const auto right = where_.left + where_.width;
    const auto floor = where_.top + where_.height;
    for (const auto v : value_ticks) {
        const auto y = place({0, v}).y;
        on_.line({where_.left, y}, {right, y}, "#e2e8f0");
        on_.text({where_.left - 6, y + 4}, tick_text(v), "end", 11, "#64748b");
    }
    const auto step = round_step(seconds_ / 8);
    for (double t = 0; t <= seconds_ * 1.0001; t += step) {
        const auto x = place({t, values_.low}).x;
        on_.line({x, floor}, {x, floor + 4}, "#94a3b8");
        on_.text({x, floor + 17}, tick_text(std::round(t * 1000) / 1000), "middle", 11, "#64748b");
    }
    on_.line({where_.left, floor}, {right, floor}, "#94a3b8");
    on_.text({right, floor + 33}, "seconds since the first publish", "end", 11, "#64748b");
    on_.upward_text({where_.left - 46, where_.top + where_.height / 2}, values_.name);
}

void plot::curve(const std::vector<point>& data, std::string_view colour, bool filled) const {
    std::vector<point> through;
    through.reserve(data.size());
    for (const auto& d : data)
        through.push_back(place(d));
    if (filled) on_.area(through, where_.top + where_.height, colour);
    on_.curve(through, colour);
}

void plot::legend(double from_right, std::string_view name, std::string_view colour) const {
    const auto x = where_.left + where_.width - from_right;
    on_.rectangle({x, where_.top - 21}, 18, 4, colour, 2);
    on_.text({x + 24, where_.top - 15}, name, "start", 12);
}

}  // namespace main_job
