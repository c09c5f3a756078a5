#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../src/decide/lanes.hpp"
#include "../src/decide/settle_policy.hpp"

namespace shove::test {

/// The same numbers for the same seed, on every machine (xorshift64*).
class dice {
public:
    explicit dice(std::uint64_t seed) noexcept : state_(seed * 2 + 1) {}
    std::uint64_t below(std::uint64_t n) noexcept {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return (state_ * 0x2545F4914F6CDD1DU >> 33) % n;
    }
    bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }

private:
    std::uint64_t state_;
};

/// What a schedule came to.
struct schedule_report {
    std::size_t sent = 0;
    std::size_t calls = 0;
    std::size_t doubled = 0;  ///< Calls of a message whose outcome was decided before and lost with its process.
    std::size_t crashes = 0;
    std::size_t dead = 0;
    std::vector<std::string> breaches;  ///< What must not be; empty: all is well.
};

/// One shard of a sequenced topic as a broker keeps it, and the processes that take turns in consuming it, over the
/// engine's own decisions (`lanes`, `settle`). Everything is a step of one thread, in an order that dice choose:
/// publishes, fetches, calls that end in any way, settlements that are carried out late, in part or never, processes
/// that die or are relieved, and time. A ledger beside it knows what must hold.
class schedule_model {
public:
    explicit schedule_model(std::uint64_t seed);
    /// Runs the schedule, then without further trouble to its end.
    schedule_report run(std::size_t steps);

private:
    enum class place : std::uint8_t { stored, dead, gone };
    struct record {
        std::string key;
        std::optional<spi::history> past;
        wall_time not_before{};
        place where = place::stored;
        bool held = false;      ///< With the process that has the shard.
        bool out_once = false;  ///< Was handed out.
        // The ledger's:
        bool called = false;
        bool decided = false;      ///< An outcome of its process made it final, in that process's view.
        bool was_decided = false;  ///< The same of an earlier process, which died before it was stored.
        bool acked = false;
        std::uint32_t ends_in_retry = 0;
        std::uint32_t lost_ends = 0;  ///< Retries that a dead process had not stored.
    };
    struct running {
        decide::lanes::lane* of = nullptr;
        spi::delivery item;
    };
    struct decided {
        spi::settlement what;
        decide::lanes::lane* of = nullptr;  ///< Of one that is kept.
    };

    void step();
    void publish();
    void fetch();
    void start();
    void end_one();
    void decide_on(decide::lanes::lane* of, spi::delivery item, decide::ended how);
    void settle_one();
    void carry_out(const spi::settlement& what);
    void die();
    void relieve();
    void tick(milliseconds by);
    void take_over();
    decide::ended random_end();
    spi::delivery delivery_of(std::size_t index);
    void check_start(std::size_t index, const spi::delivery& item);
    void check_end();
    void breach(const std::string& what) { report_.breaches.push_back(what); }
    bool all_settled() const;

    dice dice_;
    decide::failure_policy policy_;
    bool fail_all_ = false;
    bool calm_ = false;
    steady_time now_{std::chrono::hours(1)};
    wall_time wall_{std::chrono::hours(24 * 365 * 50)};

    std::vector<record> store_;  ///< In the shard's order; a message's tag is its index and one.
    std::set<std::string> poisoned_;
    std::unique_ptr<decide::lanes> lanes_;
    std::size_t next_to_fetch_ = 0;
    std::vector<running> running_;
    std::deque<decided> outbox_;
    std::map<std::string, std::size_t> highest_called_;  ///< Index and one of each key's latest first call.
    schedule_report report_;
};

}  // namespace shove::test
