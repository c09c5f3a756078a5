#include "meter.hpp"

namespace shove::cli {

std::string grouped(std::uint64_t count) {
    auto text = std::to_string(count);
    for (auto place = text.size(); place > 3; place -= 3)
        text.insert(place - 3, 1, ',');
    return text;
}

void meter::show(std::uint64_t done) {
    const auto now = steady::now();
    if (!console_.shows_progress() || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const auto seconds = elapsed_seconds();
    const auto rate = seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(done) / seconds) : 0;
    console_.progress(verb_ + " " + grouped(done) + "  " + grouped(rate) + "/s");
}

double meter::elapsed_seconds() const {
    return std::chrono::duration<double>(steady::now() - started_).count();
}

}  // namespace shove::cli
