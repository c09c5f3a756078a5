#pragma once

#include "strike.hpp"

#include <filesystem>
#include <vector>

namespace main_job {

/// Reads the records of a CSV file in the form of data/birdstrikes.csv.
/// @par Errors  Throws `std::runtime_error` with the line, for a file that cannot be read or another layout.
std::vector<feed_record> read_records(const std::filesystem::path& file);

}  // namespace main_job
