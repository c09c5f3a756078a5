#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace main_job {

struct point {
    double x = 0;
    double y = 0;
};

/// A picture under construction: shapes are drawn in the order of the calls, in pixels from the upper left corner.
class svg {
public:
    svg(double width, double height);

    void rectangle(point at, double width, double height, std::string_view fill, double radius = 0);
    void line(point from, point to, std::string_view colour, double width = 1);
    /// A line through points; with `floor`, the area down to that y is filled lightly.
    void curve(const std::vector<point>& through, std::string_view colour, double width = 2);
    void area(const std::vector<point>& through, double floor, std::string_view colour);
    /// @param anchor  `start`, `middle` or `end`.
    void text(point at, std::string_view words, std::string_view anchor = "start", double size = 12,
              std::string_view colour = "#334155", bool bold = false);
    /// Text that reads upwards.
    void upward_text(point at, std::string_view words);

    /// The whole document.
    std::string document() const;

private:
    std::string head_;
    std::string body_;
};

}  // namespace main_job
