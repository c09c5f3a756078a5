#include "strike.hpp"

namespace main_job {

strike to_strike(const any_strike& from) {
    strike made;
    made.record = from.record;
    made.airport = from.airport;
    made.species = from.species;
    made.damage = from.damage < damage_code::a ? static_cast<damage_level>(from.damage) : damage_level::substantial;
    made.phase = from.phase;
    made.size = from.size;
    made.cost_other = from.cost_other;
    made.cost_repair = from.cost_repair;
    made.speed_knots = from.speed_knots;
    return made;
}

std::string contradiction(const strike& in) {
    const bool flying =
        in.phase == flight_phase::climb || in.phase == flight_phase::descent || in.phase == flight_phase::approach;
    if (flying && in.speed_knots == 0) return "flying at 0 knots";
    if (in.cost_repair > 0 && in.damage == damage_level::none) return "repair paid, but no damage";
    return {};
}

}  // namespace main_job
