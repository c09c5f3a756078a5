#pragma once

#include "job.hpp"
#include "timeline.hpp"

#include <string>

namespace main_job {

/// The picture of a run: throughput and latency over time, how the records ended, why some are dead. SVG.
std::string draw_summary(const job_result& result, const timeline& times);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace main_job
