#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <cstdint>
#include <memory>

#include "../decide/respawn.hpp"
#include "alarm.hpp"
#include "crew.hpp"

namespace shove::detail {

class broker_core;

/// Replaces the consumers of a crew that died, as `decide::respawn` says; the topology is declared again before.
/// All but `look_soon` and `stop` runs on the broker's supervising thread, which keeps its state in order.
class respawner : public std::enable_shared_from_this<respawner> {
public:
    respawner(std::shared_ptr<broker_core> broker, std::shared_ptr<crew> members);

    crew& members() const noexcept { return *crew_; }
    /// Has the crew looked at soon. From any thread.
    void look_soon();
    /// No consumer is made any more. From any thread.
    void stop() { alarm_.stop(); }

private:
    void look();
    void say(decide::respawn::event what) const;
    void begin_round(std::uint32_t n);
    void declared(std::uint32_t n, const error& why);

    const std::shared_ptr<broker_core> broker_;
    const std::shared_ptr<crew> crew_;
    decide::respawn decision_;
    alarm alarm_;
    bool declaring_ = false;
};

}  // namespace shove::detail
