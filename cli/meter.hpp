#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "console.hpp"

namespace shove::cli {

/// `12,345`
std::string grouped(std::uint64_t count);

/// Shows how far long work has come, at most ten times a second: `published 12,345  8,120/s`.
class meter {
public:
    meter(console& to, std::string_view verb) : console_(to), verb_(verb) {}
    ~meter() { console_.progress({}); }
    meter(const meter&) = delete;
    meter& operator=(const meter&) = delete;

    void show(std::uint64_t done);
    double elapsed_seconds() const;

private:
    using steady = std::chrono::steady_clock;
    console& console_;
    const std::string verb_;
    const steady::time_point started_ = steady::now();
    steady::time_point shown_{};
};

}  // namespace shove::cli
