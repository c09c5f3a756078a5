#include <shove/admin.hpp>

#include <algorithm>
#include <utility>

#include "blocking.hpp"
#include "broker_core.hpp"

namespace shove {
namespace {

using page = std::vector<spi::browsed>;

constexpr std::string_view replays_header = "x-shove-replays";

template <class T>
using answer = spi::callback<void(result<T>)>;

spi::admin& tools_of(detail::broker_core& core) {
    if (core.closed()) throw exception(error(errc::closed, "the broker is closed"));
    auto* tools = core.driver().admin();
    if (tools) return *tools;
    const std::string backend(core.capabilities().backend);
    throw exception(error(errc::unsupported, "the backend '" + backend + "' cannot list, browse or move messages"));
}

/// Counts of a queue; throws, naming it, where it is unknown.
spi::queue_depth depth_of(detail::broker_core& core, std::string_view queue) {
    return detail::wait_for<result<spi::queue_depth>>(
               [&](answer<spi::queue_depth> done) { core.driver().depth(std::string(queue), std::move(done)); })
        .value();
}

bool contains(std::span<const std::byte> payload, std::string_view text) {
    const std::string_view bytes(reinterpret_cast<const char*>(payload.data()), payload.size());
    return bytes.find(text) != bytes.npos;
}

bool passes(const letter_filter& filter, const spi::browsed& letter) {
    const auto* past = letter.past.get();
    if (!filter.reason.empty() && (!past || past->death_reason != filter.reason)) return false;
    if (filter.since && (!past || past->dead_at < *filter.since)) return false;
    return filter.match.empty() || contains(letter.msg.payload(), filter.match);
}

/// Pages that hold about as many bytes as is good, whatever the size of a letter.
class page_size {
public:
    std::size_t next() const noexcept { return next_; }
    void learn(const page& seen) {
        std::size_t bytes = 0;
        for (const auto& letter : seen)
            bytes += letter.msg.footprint() + 256;
        const std::size_t fitting =
            std::max<std::size_t>(1, target_bytes * seen.size() / std::max<std::size_t>(1, bytes));
        next_ = std::min({fitting, next_ * 2, most});
    }

private:
    static constexpr std::size_t target_bytes = 4 * 1024 * 1024;
    static constexpr std::size_t most = 1'000;
    std::size_t next_ = 16;
};

/// Walks through a queue in pages. Sees no more letters than were there at the start, so that it ends
/// although letters that it replays die again behind it.
class letter_walk {
public:
    letter_walk(detail::broker_core& core, std::string_view queue, const letter_filter& filter)
        : tools_(tools_of(core)), queue_(queue), filter_(filter), left_(depth_of(core, queue).ready) {}

    /// The next letters that the filter lets through; false at the end. A page may have none.
    bool next(page& matching) {
        matching.clear();
        if (left_ == 0 || done_.matched == filter_.limit) return false;
        auto seen = fetch();
        if (seen.empty()) return false;
        size_.learn(seen);
        for (auto& letter : seen)
            take(letter, matching);
        return true;
    }

    spi::admin& tools() const noexcept { return tools_; }
    const std::string& queue() const noexcept { return queue_; }
    /// How far the walk has come.
    admin_progress& progress() noexcept { return done_; }

private:
    page fetch() {
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(size_.next(), left_));
        return detail::wait_for<result<page>>(
                   [&](answer<page> done) { tools_.browse(queue_, cursor_, most, std::move(done)); })
            .value();
    }

    void take(spi::browsed& letter, page& matching) {
        cursor_ = letter.cursor;
        --left_;
        if (done_.matched == filter_.limit) return;
        ++done_.seen;
        if (!passes(filter_, letter)) return;
        ++done_.matched;
        matching.push_back(std::move(letter));
    }

    spi::admin& tools_;
    const std::string queue_;
    const letter_filter& filter_;
    std::uint64_t left_;
    std::uint64_t cursor_ = 0;
    page_size size_;
    admin_progress done_;
};

/// The letter as it goes out again.
message revived(const message& letter, wall_time now) {
    headers fresh(letter.headers());
    const auto before = letter.headers().find(replays_header);
    const auto replays = before ? before->as_integer().value_or(0) : 0;
    fresh.set(replays_header, std::clamp<std::int64_t>(replays, 0, INT64_MAX - 1) + 1);
    id_buffer buffer;
    auto parts = letter.parts(buffer);
    parts.headers = fresh;
    if (parts.expires_at <= now) parts.expires_at = {};
    return message::make(parts);
}

/// Moves letters back into life, those for one queue in one go.
class revival {
public:
    revival(detail::broker_core& core, letter_walk& walk, std::string_view to) : core_(core), walk_(walk), to_(to) {
        if (!to_.empty()) check_target(to_);
    }

    void run(page& letters) {
        for (auto& letter : letters) {
            auto& target = target_of(letter);
            if (target != current_) send();
            current_ = target;
            batch_.push_back({letter.cursor, revived(letter.msg, core_.clock().wall())});
        }
        send();
    }

private:
    const std::string& target_of(const spi::browsed& letter) {
        if (!to_.empty()) return to_;
        if (letter.past && !letter.past->original_queue.empty()) return letter.past->original_queue;
        send();
        throw exception(error(errc::invalid_argument, "the letter '" + letter.msg.id() + "' in '" + walk_.queue() +
                                                          "' does not say which queue it died in; name the target"));
    }

    void check_target(const std::string& target) {
        if (target == walk_.queue()) {
            throw exception(error(errc::invalid_argument, "letters of '" + target + "' cannot be replayed into '" +
                                                              target + "' itself; name another target"));
        }
        depth_of(core_, target);
        checked_ = target;
    }

    void send() {
        if (batch_.empty()) return;
        if (current_ != checked_) check_target(current_);
        const auto moved = detail::wait_for<result<std::size_t>>([&](answer<std::size_t> done) {
            walk_.tools().move(walk_.queue(), current_, std::exchange(batch_, {}), std::move(done));
        });
        walk_.progress().done += moved.value();
    }

    detail::broker_core& core_;
    letter_walk& walk_;
    const std::string to_;
    std::string current_;
    std::string checked_;
    std::vector<spi::moved> batch_;
};

}  // namespace

std::vector<spi::queue_info> admin::queues() const {
    auto& tools = tools_of(*core_);
    return detail::wait_for<result<std::vector<spi::queue_info>>>(
               [&](answer<std::vector<spi::queue_info>> done) { tools.list_queues(std::move(done)); })
        .value();
}

admin_progress admin::browse(std::string_view queue, const letter_filter& filter,
                             const std::function<bool(const spi::browsed&)>& show) const {
    letter_walk walk(*core_, queue, filter);
    page letters;
    while (walk.next(letters)) {
        for (const auto& letter : letters) {
            if (!show(letter)) return walk.progress();
        }
    }
    return walk.progress();
}

admin_progress admin::replay(std::string_view queue, std::string_view to, const letter_filter& filter,
                             const std::function<bool(const admin_progress&)>& progress) const {
    letter_walk walk(*core_, queue, filter);
    revival work(*core_, walk, to);
    page letters;
    while (walk.next(letters)) {
        work.run(letters);
        if (progress && !progress(walk.progress())) break;
    }
    return walk.progress();
}

admin_progress admin::purge(std::string_view queue, const letter_filter& filter,
                            const std::function<bool(const admin_progress&)>& progress) const {
    letter_walk walk(*core_, queue, filter);
    page letters;
    while (walk.next(letters)) {
        std::vector<std::uint64_t> cursors;
        for (const auto& letter : letters)
            cursors.push_back(letter.cursor);
        const auto removed = detail::wait_for<result<std::size_t>>(
            [&](answer<std::size_t> done) { walk.tools().remove(walk.queue(), std::move(cursors), std::move(done)); });
        walk.progress().done += removed.value();
        if (progress && !progress(walk.progress())) break;
    }
    return walk.progress();
}

namespace {

void check_keeps_keys(detail::broker_core& core, const queue_topology& topology) {
    if (!topology.sequencing) {
        throw exception(
            error(errc::invalid_argument, "topic '" + topology.queue + "' is not sequenced: it has no keys"));
    }
    if (core.capabilities().keeps_keys) return;
    throw exception(error(errc::unsupported, "the backend '" + std::string(core.capabilities().backend) +
                                                 "' does not keep poisoned keys; they end with their consumer"));
}

}  // namespace

std::vector<spi::poisoned_key> admin::keys(const queue_topology& topology) const {
    check_keeps_keys(*core_, topology);
    auto& tools = tools_of(*core_);
    return detail::wait_for<result<std::vector<spi::poisoned_key>>>([&](answer<std::vector<spi::poisoned_key>> done) {
               tools.list_keys(topology.sequencing->reader_queues, std::move(done));
           })
        .value();
}

bool admin::release_key(const queue_topology& topology, std::string_view key) const {
    check_keeps_keys(*core_, topology);
    auto& tools = tools_of(*core_);
    const auto& queue = topology.place_of(topology.sequencing->shard_of(key));
    return detail::wait_for<result<std::size_t>>([&](answer<std::size_t> done) {
               tools.release_key(queue, std::string(key), std::move(done));
           }).value() > 0;
}

}  // namespace shove
