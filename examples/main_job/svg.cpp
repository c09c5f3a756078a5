#include "svg.hpp"

#include <cstdio>

namespace main_job {
namespace {

std::string num(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

std::string escaped(std::string_view words) {
    std::string out;
    for (const char c : words) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string attribute(std::string_view name, std::string_view value) {
    std::string out = " ";
    out.append(name).append("=\"").append(value).append("\"");
    return out;
}

std::string points_of(const std::vector<point>& through) {
    std::string out;
    for (const auto& p : through)
        out += num(p.x) + "," + num(p.y) + " ";
    return out;
}

}  // namespace

svg::svg(double width, double height) {
    head_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", num(width)) +
            attribute("height", num(height)) + attribute("viewBox", "0 0 " + num(width) + " " + num(height)) +
            attribute("font-family", "Inter, 'DejaVu Sans', 'Segoe UI', Helvetica, Arial, sans-serif") + ">\n";
    rectangle({0, 0}, width, height, "#ffffff");
}

void svg::rectangle(point at, double width, double height, std::string_view fill, double radius) {
    body_ += "<rect" + attribute("x", num(at.x)) + attribute("y", num(at.y)) + attribute("width", num(width)) +
             attribute("height", num(height)) + attribute("rx", num(radius)) + attribute("fill", fill) + "/>\n";
}

void svg::line(point from, point to, std::string_view colour, double width) {
    body_ += "<line" + attribute("x1", num(from.x)) + attribute("y1", num(from.y)) + attribute("x2", num(to.x)) +
             attribute("y2", num(to.y)) + attribute("stroke", colour) + attribute("stroke-width", num(width)) + "/>\n";
}

void svg::curve(const std::vector<point>& through, std::string_view colour, double width) {
    if (through.empty()) return;
    body_ += "<polyline" + attribute("points", points_of(through)) + attribute("fill", "none") +
             attribute("stroke", colour) + attribute("stroke-width", num(width)) +
             attribute("stroke-linejoin", "round") + attribute("stroke-linecap", "round") + "/>\n";
}

void svg::area(const std::vector<point>& through, double floor, std::string_view colour) {
    if (through.empty()) return;
    auto outline = through;
    outline.push_back({through.back().x, floor});
    outline.push_back({through.front().x, floor});
    body_ += "<polygon" + attribute("points", points_of(outline)) + attribute("fill", colour) +
             attribute("fill-opacity", "0.12") + "/>\n";
}

void svg::text(point at, std::string_view words, std::string_view anchor, double size, std::string_view colour,
               bool bold) {
    body_ += "<text" + attribute("x", num(at.x)) + attribute("y", num(at.y)) + attribute("text-anchor", anchor) +
             attribute("font-size", num(size)) + attribute("fill", colour) +
             (bold ? attribute("font-weight", "600") : std::string()) + ">" + escaped(words) + "</text>\n";
}

void svg::upward_text(point at, std::string_view words) {
    body_ += "<text" + attribute("transform", "translate(" + num(at.x) + " " + num(at.y) + ") rotate(-90)") +
             attribute("text-anchor", "middle") + attribute("font-size", "11") + attribute("fill", "#64748b") + ">" +
             escaped(words) + "</text>\n";
}

std::string svg::document() const {
    return head_ + body_ + "</svg>\n";
}

}  // namespace main_job
