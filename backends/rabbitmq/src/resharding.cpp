#include "resharding.hpp"

#include <algorithm>
#include <iterator>
#include <thread>

#include "layout.hpp"
#include "shard_record.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// For so long a message may be under way in the server to a shard that is no longer bound, or be looked at by
/// somebody.
constexpr std::chrono::seconds still_coming{1};

std::string counted(std::size_t n, const std::string& what) {
    return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

/// A sequenced topic as its reader has it on the server, and as it is declared.
class resharding {
public:
    resharding(ask_channel& over, const queue_topology& topology, const rabbitmq::config& settings)
        : over_(over), topology_(topology), settings_(settings), declared_(topology.sequencing->shards()) {}

    void run() {
        there_ = count_shards();
        if (there_ == declared_ || there_ == 0) return;
        const auto busy = settings_.allow_resharding ? in_use(declared_, there_) : in_use(0, there_);
        if (!busy.empty()) {
            // Somebody else has just declared the same: nobody uses a shard before all of them are as declared.
            if (count_shards() == declared_) return;
            refuse(busy);
        }
        if (there_ > declared_) take_away();
    }

private:
    std::string shard(std::size_t number) const { return topology_.reader_queue + "-seq-" + std::to_string(number); }

    /// A shard may have been deleted under its consumers, who make it again.
    bool has(std::size_t number) {
        return count(over_, shard(number)).has_value() || count(over_, state_queue(shard(number))).has_value();
    }

    std::size_t count_shards() {
        auto number = declared_;
        if (!has(number)) {
            if (has(number - 1)) return number;
            number = 0;
        }
        while (has(number))
            ++number;
        return number;
    }

    /// Why these shards cannot be done without; empty: nothing speaks against it. What is in a consumer's hands is not
    /// to be seen, so that there is one is enough.
    std::string in_use(std::size_t from, std::size_t to) {
        for (auto number = from; number < to; ++number) {
            const auto name = shard(number);
            const auto told = count(over_, name);
            if (told && told->consumers > 0) return "'" + name + "' has a consumer";
            if (told && told->ready > 0) return "'" + name + "' holds " + counted(told->ready, "message");
            if (count_ready(over_, poison_queue(name)).value_or(0) > 0) return "'" + name + "' has poisoned keys";
            if (waits_at_hold(name)) return "messages wait to return to '" + name + "'";
        }
        return {};
    }

    /// The Rust library lets them wait in queues of a shard's own.
    bool waits_at_hold(const std::string& name) {
        if (settings_.queues != rabbitmq::queue_type::classic) return false;
        for (const auto& tier : topology_.holds) {
            if (count_ready(over_, name + "-hold-" + hold_suffix(tier.delay)).value_or(0) > 0) return true;
        }
        return false;
    }

    [[noreturn]] void refuse(const std::string& busy) const {
        auto text = "sequenced topic '" + topology_.reader_queue + "' has " + counted(there_, "shard") + ", and " +
                    std::to_string(declared_) + " are declared: keys would change their shard, and " + busy +
                    ". Declare " + std::to_string(there_) +
                    ", or drain it first: stop its publishers, let its consumers handle what is " +
                    "there, release its poisoned keys, stop the consumers";
        text += !settings_.allow_resharding
                    ? ". Option allow_resharding=true does without that; keys may lose their order"
                    : "; a shard that goes must be empty, also with allow_resharding";
        throw channel_failed{error(errc::topology_mismatch, std::move(text)), 0};
    }

    std::vector<binding_layout> bindings_beyond() const {
        std::vector<binding_layout> made;
        for (auto number = declared_; number < there_; ++number)
            std::ranges::copy(shard_bindings(topology_.reader_queue, shard(number), number, settings_.queues),
                              std::back_inserter(made));
        return made;
    }

    void take_away() {
        for (const auto& each : bindings_beyond())
            unbind(over_, each);
        std::this_thread::sleep_for(still_coming);
        const auto busy = in_use(declared_, there_);
        if (!busy.empty()) {
            for (const auto& each : bindings_beyond())
                declare(over_, each);
            refuse(busy);
        }
        // The last one first: who is interrupted finds a lower number, and goes on there.
        for (auto number = there_; number-- > declared_;) {
            remove(over_, shard(number));
            remove(over_, poison_queue(shard(number)));
            remove(over_, state_queue(shard(number)));
        }
    }

    ask_channel& over_;
    const queue_topology& topology_;
    const rabbitmq::config& settings_;
    const std::size_t declared_;
    std::size_t there_ = 0;
};

}  // namespace

void make_way(ask_channel& over, const queue_topology& topology, const rabbitmq::config& settings) {
    if (topology.sequencing) resharding(over, topology, settings).run();
}

}  // namespace shove::rabbitmq_backend
