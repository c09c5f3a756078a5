#pragma once

#include <shove/spi/delivery.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace shove::decide {

/// The order of a shard (G2): one lane per key, one message of a lane at a time, others of the key behind it
/// until its outcome is final. A lane waits (a retry's delay, a handler that does not return) without the
/// others. Messages are taken in the shard's order; a lane that opens goes behind those open already.
/// Pure: no I/O, no clock. Cost per message: one look-up of its key.
class lanes {
public:
    /// A key's messages that have no final outcome yet. Lives until its last one has.
    class lane;

    /// @param crowded_at  A lane with so many messages waiting is crowded: see `crowded`.
    explicit lanes(std::size_t crowded_at);
    ~lanes();
    lanes(const lanes&) = delete;
    lanes& operator=(const lanes&) = delete;

    /// Appends a delivery to its key's lane. One that must not be called before `opens_at` closes its lane until
    /// then, if it is the first.
    void add(spi::delivery item, steady_time opens_at = {});

    bool startable() const noexcept { return !open_.empty(); }
    /// How many lanes could start a message now.
    std::size_t open_lanes() const noexcept { return open_.size(); }
    /// The first message of the next open lane; the lane is closed from now on. Only if `startable()`.
    struct started {
        spi::delivery item;
        lane* of = nullptr;
    };
    started start();

    /// The started message's outcome is final: its lane goes on with the next one.
    void finish(lane* of);
    /// The started message comes first again, once `reopen` says when.
    void put_back(lane* of, spi::delivery item);
    /// Opens a lane that was put back, at `when`.
    void reopen(lane* of, steady_time when);
    /// Opens the lanes whose time has come. True if there were some.
    bool open_due(steady_time now);
    /// When the next lane opens by itself.
    std::optional<steady_time> next_due() const;

    /// Marks the key's messages, those here and those added later, as poisoned, until `trust`.
    void poison(lane* of);
    /// The driver knows of the poisoned keys now: its flag on a delivery counts alone again.
    void trust_driver() noexcept { poisoned_.clear(); }

    /// Messages not started, those of waiting lanes included.
    std::size_t held() const noexcept { return held_; }
    std::size_t held_bytes() const noexcept { return held_bytes_; }
    /// Those of them whose lane waits for no time: what can be worked off one after another.
    std::size_t workable() const noexcept { return held_ - parked_; }
    /// Whether some lane has so many messages waiting that no more should be fetched for now.
    bool crowded() const noexcept { return crowded_lanes_ > 0; }
    template <class F>
    void for_each_held(F f) const;
    /// Gives up everything that was not started, each lane in order. Lanes with a started message live on, empty.
    std::vector<spi::delivery> take_all();

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    struct slot {
        spi::delivery item;
        steady_time opens_at{};
        std::uint32_t next = none;
    };
    /// A key and its hash, which is computed once per message.
    struct key_ref {
        std::string_view text;
        std::size_t hash = 0;
        friend bool operator==(const key_ref& a, const key_ref& b) noexcept {
            return a.hash == b.hash && a.text == b.text;
        }
    };
    struct hash_of_ref {
        using is_avalanching = void;
        std::size_t operator()(const key_ref& key) const noexcept { return key.hash; }
    };

    lane& lane_of(std::string_view key);
    std::uint32_t take_slot();
    void open(lane& of);
    void open_first(lane& of);
    void close_until(lane& of, steady_time when);
    void retire(lane& of);
    void longer(lane& of);
    void shorter(lane& of);

    const std::size_t crowded_at_;
    boost::unordered_flat_map<key_ref, lane*, hash_of_ref> lanes_;  ///< By the key's text in the lane.
    std::vector<std::unique_ptr<lane>>
        pool_;                  ///< All lanes there ever were at a time: keys come and go with each message.
    std::vector<lane*> spare_;  ///< Those of them that no key has.
    std::vector<slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::deque<lane*> open_;
    std::multimap<steady_time, lane*> due_;
    std::unordered_set<std::string> poisoned_;
    std::size_t held_ = 0;
    std::size_t held_bytes_ = 0;
    std::size_t parked_ = 0;  ///< Messages in lanes that wait for their time.
    std::size_t crowded_lanes_ = 0;
};

class lanes::lane {
private:
    friend class lanes;
    enum class state : std::uint8_t {
        open,     ///< In `open_`.
        started,  ///< Its first message is out.
        back,     ///< Its first message was put back; `reopen` comes.
        waiting,  ///< In `due_`.
        idle,     ///< Nothing in it.
    };
    key_ref ref() const noexcept { return {key, hash}; }

    std::string key;
    std::size_t hash = 0;
    std::uint32_t first = none;
    std::uint32_t last = none;
    std::uint32_t length = 0;
    state now = state::idle;
};

template <class F>
void lanes::for_each_held(F f) const {
    for (const auto& [key, each] : lanes_) {
        for (auto at = each->first; at != none; at = slots_[at].next)
            f(slots_[at].item);
    }
}

}  // namespace shove::decide
