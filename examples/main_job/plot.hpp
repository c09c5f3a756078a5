#pragma once

#include "svg.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace main_job {

/// A frame with a linear time axis and a linear or logarithmic value axis, inside a picture.
class plot {
public:
    struct frame {
        double left = 0;
        double top = 0;
        double width = 0;
        double height = 0;
    };
    struct value_axis {
        double low = 0;
        double high = 1;
        bool logarithmic = false;
        std::string_view name;
    };

    /// @param seconds  The end of the time axis.
    plot(svg& on, frame where, double seconds, value_axis values);

    /// Draws ticks, grid lines and the axes' names.
    void axes(const std::vector<double>& value_ticks) const;
    void curve(const std::vector<point>& data, std::string_view colour, bool filled) const;
    /// One entry of the legend above the frame, `from_right` pixels left of its right edge.
    void legend(double from_right, std::string_view name, std::string_view colour) const;

private:
    point place(const point& data) const;

    svg& on_;
    frame where_;
    double seconds_;
    value_axis values_;
};

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
double round_step(double least);

/// A value of an axis in few characters: 12k, 0.5.
std::string tick_text(double value);

}  // namespace main_job
