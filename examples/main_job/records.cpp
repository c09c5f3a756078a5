#include "records.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace main_job {
namespace {

constexpr std::string_view header =
    "Airport Name,Aircraft Make Model,Effect Amount of damage,Flight Date,Aircraft Airline Operator,Origin State,"
    "Phase of flight,Wildlife Size,Wildlife Species,Time of day,Cost Other,Cost Repair,Cost Total $,"
    "Speed IAS in knots";
constexpr std::size_t columns = 14;
using row = std::array<std::string_view, columns>;

std::runtime_error malformed(const std::filesystem::path& file, std::uint32_t line, const char* what) {
    return std::runtime_error(file.string() + ":" + std::to_string(line) + ": " + what);
}

/// This file quotes nothing, so a comma always ends a field.
bool split(std::string_view line, row& into) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (std::size_t i = 0; i + 1 < columns; ++i) {
        const auto comma = line.find(',');
        if (comma == line.npos) return false;
        into[i] = line.substr(0, comma);
        line.remove_prefix(comma + 1);
    }
    into.back() = line;
    return line.find(',') == line.npos;
}

/// "Take-off run" as `take_off_run`.
std::string word(std::string_view text) {
    std::string out(text);
    for (auto& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == ' ' || c == '-') c = '_';
    }
    return out;
}

template <class T>
T number(std::string_view text) {
    T value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) throw std::invalid_argument("not a number");
    return value;
}

feed_record to_record(const row& from, std::uint32_t place) {
    feed_record made;
    made.record = place;
    made.airport = from[0];
    made.aircraft = from[1];
    made.damage = word(from[2]);
    made.date = from[3];
    made.airline = from[4];
    made.state = from[5];
    made.phase = word(from[6]);
    made.size = word(from[7]);
    made.species = from[8];
    made.time_of_day = word(from[9]);
    made.cost_other = number<std::int64_t>(from[10]);
    made.cost_repair = number<std::int64_t>(from[11]);
    if (!from[13].empty()) made.speed_knots = number<std::int32_t>(from[13]);
    return made;
}

}  // namespace

std::vector<feed_record> read_records(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    std::vector<feed_record> records;
    std::string line;
    row fields;
    for (std::uint32_t place = 0; std::getline(in, line); ++place) {
        if (line.empty()) continue;
        if (place == 0 && !std::string_view(line).starts_with(header)) throw malformed(file, 1, "another header");
        if (place == 0) continue;
        if (!split(line, fields)) throw malformed(file, place + 1, "not 14 fields");
        try {
            records.push_back(to_record(fields, place));
        } catch (const std::invalid_argument& e) {
            throw malformed(file, place + 1, e.what());
        }
    }
    return records;
}

}  // namespace main_job
