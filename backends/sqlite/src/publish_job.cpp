#include "publish_job.hpp"

#include "attendance.hpp"

#include <shove/sqlite.hpp>

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

namespace {

std::size_t stored_bytes(const message& m) {
    return m.payload().size() + m.headers().encoded().size();
}

error too_large(std::size_t bytes) {
    return {errc::too_large, "the message has " + std::to_string(bytes) + " bytes; a row of the file holds up to " +
                                 std::to_string(sqlite::capabilities.max_message_bytes)};
}

}  // namespace

publish_job::publish_job(std::string queue, spi::publish_request request, spi::callback<void(spi::publish_report)> done,
                         bool broadcast)
    : queue_(std::move(queue)), broadcast_(broadcast), request_(std::move(request)), done_(std::move(done)) {
    for (std::size_t i = 0; i < request_.messages.size(); ++i) {
        const auto size = stored_bytes(request_.messages[i].msg);
        bytes_ += size + 100;
        if (size <= sqlite::capabilities.max_message_bytes) continue;
        too_large_.resize(request_.messages.size());
        too_large_[i] = true;
    }
}

void publish_job::apply(workplace& at) {
    auto* queue = at.file.queues.find(queue_);
    if (queue == nullptr) return at.file.db.fail(at.file.unknown_queue(queue_));
    if (!at.file.queues.check_kind(*queue, broadcast_)) return;
    const auto& feeds = at.file.queues.feeds_of(*queue);
    for (std::size_t i = 0; i < request_.messages.size() && at.file.db.ok(); ++i) {
        if (!too_large_.empty() && too_large_[i]) continue;
        if (!broadcast_) append(at, *queue, request_.messages[i]);
        for (auto* each : feeds)
            append(at, *each, request_.messages[i]);
    }
    at.readers.hope(*queue);
    for (const auto* each : feeds)
        at.readers.hope(*each);
}

void publish_job::append(workplace& at, queue_state& queue, const spi::outgoing& what) {
    const auto seq = at.file.append_place(queue);
    if (seq == 0) return;
    at.file.messages.insert(seq, what.msg);
    if (what.delay <= milliseconds(0)) return;
    at.file.parked.add(queue.group, {seq, 0, false}, at.file.wall_us() + what.delay.count() * 1000);
    ++queue.gaps;
}

void publish_job::finish(workplace&, const error& cause, bool maybe) {
    auto done = std::exchange(done_, nullptr);
    done(report(cause ? (maybe ? spi::publish_status::unknown : spi::publish_status::failed) : spi::publish_status::ok,
                cause));
}

void publish_job::refuse(const error& cause) {
    auto done = std::exchange(done_, nullptr);
    done(report(spi::publish_status::failed, cause));
}

spi::publish_report publish_job::report(spi::publish_status status, const error& cause) const {
    if (status == spi::publish_status::ok && too_large_.empty()) return {};
    spi::publish_report made;
    made.each.assign(request_.messages.size(), {status, cause});
    for (std::size_t i = 0; i < too_large_.size(); ++i) {
        if (too_large_[i])
            made.each[i] = {spi::publish_status::failed, too_large(stored_bytes(request_.messages[i].msg))};
    }
    return made;
}

}  // namespace shove::sqlite_backend
