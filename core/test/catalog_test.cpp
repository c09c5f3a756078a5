#include <shove/event.hpp>
#include <shove/metrics.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace shove {
namespace {

/// The rows of a guide's tables that begin with a name in backquotes.
std::vector<std::string> rows_of(const std::string& guide) {
    std::ifstream file(std::string(SHOVE_GUIDES) + "/" + guide);
    EXPECT_TRUE(file.good()) << guide;
    std::vector<std::string> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("| `")) rows.push_back(line);
    }
    return rows;
}

std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (const auto name : names)
        text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

TEST(catalog, the_guide_lists_every_metric) {
    std::vector<std::string> expected;
    for (const auto& m : metric_catalog()) {
        const char* kind = m.kind == metric_kind::counter ? "counter"
                           : m.kind == metric_kind::gauge ? "gauge"
                                                          : "histogram";
        expected.push_back("| `" + std::string(m.name) + "` | " + kind + " | " + listed(m.labels) + " | " +
                           std::string(m.help) + " |");
    }
    EXPECT_EQ(rows_of("metrics.md"), expected);
}

TEST(catalog, the_guide_lists_every_event) {
    std::vector<std::string> expected;
    for (const auto& e : event_catalog()) {
        expected.push_back("| `" + std::string(e.name) + "` | " + std::string(to_string(e.level)) + " | " +
                           listed(e.fields) + " | " + std::string(e.meaning) + " |");
    }
    EXPECT_EQ(rows_of("events.md"), expected);
}

}  // namespace
}  // namespace shove
