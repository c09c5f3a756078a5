#include <shove/error.hpp>

#include <cmath>

#include "autoscale.hpp"

namespace shove {
namespace {

class threshold final : public scaling_strategy {
public:
    threshold(double up, double down) noexcept : up_(up), down_(down) {}
    scale_decision decide(const scale_snapshot& now) override { return decide::by_threshold(now, up_, down_); }

private:
    double up_;
    double down_;
};

class drain_time final : public scaling_strategy {
public:
    explicit drain_time(milliseconds target) noexcept : target_(target) {}
    scale_decision decide(const scale_snapshot& now) override { return decide::by_drain_time(now, target_); }

private:
    milliseconds target_;
};

}  // namespace

std::shared_ptr<scaling_strategy> threshold_strategy(double up, double down) {
    if (!std::isfinite(up) || !std::isfinite(down) || down <= 0 || down >= up) {
        throw exception(error(errc::invalid_argument, "the multipliers of a threshold are " + std::to_string(up) +
                                                          " up and " + std::to_string(down) +
                                                          " down; they must be finite, and 0 < down < up"));
    }
    return std::make_shared<threshold>(up, down);
}

std::shared_ptr<scaling_strategy> drain_time_strategy(milliseconds target) {
    if (target.count() <= 0) {
        throw exception(error(errc::invalid_argument,
                              "the time to drain is " + std::to_string(target.count()) + " ms; it must be positive"));
    }
    return std::make_shared<drain_time>(target);
}

}  // namespace shove
