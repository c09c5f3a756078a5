#include "crash_notes.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "fetching.hpp"
#include "shard_record.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::seconds patience{10};
/// An id has at most 255 bytes, so that its length fits one.
constexpr std::size_t longest_id = 255;

std::string listed(const std::vector<std::string>& ids) {
    std::string text;
    for (const auto& id : ids) {
        const auto part = std::string_view(id).substr(0, longest_id);
        text.push_back(static_cast<char>(part.size()));
        text.append(part);
    }
    return text;
}

void note_given_back(crash_notes::findings& into, std::span<const std::byte> body) {
    while (!body.empty()) {
        const auto size = static_cast<std::size_t>(body.front());
        body = body.subspan(1);
        if (size > body.size()) return;
        into[std::string(reinterpret_cast<const char*>(body.data()), size)].given_back = true;
        body = body.subspan(size);
    }
}

/// What is read from the notes, in the order in which they were written: the later one counts.
class reading {
public:
    void note(std::uint64_t tag, const shard_record& record, std::span<const std::byte> body) {
        if (record.what == shard_record::kind::released) return note_given_back(found_, body);
        if (record.what != shard_record::kind::wait) return;
        auto& known = found_[record.id];
        auto& last = last_[record.id];
        if (last.tag != 0) needless_.push_back(last.tag);
        last.tag = tag;
        last.alone = record.alone;
        last.hides_another = last.hides_another || known.given_back;
        known = {};
        if (record.alone) known.crashes = (record.past ? record.past->crashes : 0) + 1;
    }
    crash_notes::findings take() { return std::move(found_); }
    /// Those without which the next one finds the same. That a call has ended says nothing new, unless it hides that
    /// its message was given back before.
    std::vector<std::uint64_t> needless() {
        for (const auto& [id, last] : last_) {
            if (!last.alone && !last.hides_another) needless_.push_back(last.tag);
        }
        std::ranges::sort(needless_);
        return std::move(needless_);
    }

private:
    struct last_note {
        std::uint64_t tag = 0;
        bool alone = false;
        bool hides_another = false;
    };
    crash_notes::findings found_;
    std::unordered_map<std::string, last_note> last_;
    std::vector<std::uint64_t> needless_;
};

}  // namespace

std::string notes_queue(const std::string& queue) {
    return queue + "-notes";
}

crash_notes::crash_notes(std::shared_ptr<control> asking, std::shared_ptr<outlet> publishing, const std::string& queue)
    : asking_(std::move(asking)),
      publishing_(std::move(publishing)),
      queue_(notes_queue(queue)),
      way_(std::make_shared<const route>(route{.exchange = {}, .routing_key = queue_})) {}

void crash_notes::read(unique_function<void(findings)> done) {
    auto answer = std::make_shared<unique_function<void(findings)>>(std::move(done));
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + patience;
    job.run = [self = shared_from_this(), answer](ask_channel& over) {
        reading all;
        look how;
        how.seen = [&](std::uint64_t tag, const amqp_basic_properties_t& properties, std::span<const std::byte> body) {
            if (const auto record = read_record(properties, body)) all.note(tag, *record, body);
        };
        how.needless = [&] { return all.needless(); };
        look_through(over, self->queue_, how);
        (*answer)(all.take());
    };
    job.fail = [answer](const error&) { (*answer)({}); };
    asking_->post(std::move(job));
}

void crash_notes::give_back(const std::vector<std::string>& ids, unique_function<void()> done) {
    shard_record record;
    record.what = shard_record::kind::released;
    auto what = written(record, way_);
    const auto text = listed(ids);
    id_buffer room;
    auto parts = what.msg.parts(room);
    parts.payload = std::as_bytes(std::span(text));
    what.msg = message::make(parts);
    write(std::move(what), [done = std::move(done)](const error&) mutable { done(); });
}

void crash_notes::alone(const std::string& id, std::uint32_t crashes, spi::callback<void(error)> done) {
    shard_record record;
    record.what = shard_record::kind::wait;
    record.id = id;
    record.alone = true;
    record.past = std::make_unique<spi::history>();
    record.past->crashes = crashes;
    auto what = written(record, way_);
    write(std::move(what), [kept = std::shared_ptr(std::move(record.past)),
                            done = std::move(done)](const error& why) mutable { done(why); });
}

void crash_notes::ended(const std::string& id) {
    shard_record record;
    record.what = shard_record::kind::wait;
    record.id = id;
    write(written(record, way_), [](const error&) {});
}

void crash_notes::write(parcel what, spi::callback<void(error)> done) {
    shipment made;
    made.deadline = std::chrono::steady_clock::now() + patience;
    made.parcels.push_back(std::move(what));
    made.done = [done = std::move(done)](std::vector<spi::publish_result> results) mutable {
        done(results.empty() ? error() : results.front().cause);
    };
    publishing_->post(std::move(made));
}

}  // namespace shove::rabbitmq_backend
