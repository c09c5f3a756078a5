#include "crash_notes.hpp"

#include <span>
#include <utility>

#include "fetching.hpp"
#include "posting.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::seconds patience{10};

}  // namespace

std::string notes_queue(const std::string& queue) {
    return queue + "-notes";
}

crash_notes::crash_notes(std::shared_ptr<control> asking, std::shared_ptr<outlet> publishing, const std::string& queue)
    : asking_(std::move(asking)),
      publishing_(std::move(publishing)),
      queue_(notes_queue(queue)),
      way_(std::make_shared<const route>(route{.exchange = {}, .routing_key = queue_})) {}

void crash_notes::read(unique_function<void(std::optional<findings>)> done) {
    auto answer = std::make_shared<unique_function<void(std::optional<findings>)>>(std::move(done));
    control_job job;
    job.deadline = std::chrono::steady_clock::now() + patience;
    job.run = [self = shared_from_this(), answer](ask_channel& over) {
        note_reader all;
        look how;
        how.seen = [&](std::uint64_t tag, const amqp_basic_properties_t& properties, std::span<const std::byte> body) {
            if (const auto record = read_record(properties, body)) all.note(tag, *record, body);
        };
        how.needless = [&] { return all.needless(); };
        look_through(over, self->queue_, how);
        (*answer)(all.found());
    };
    job.fail = [answer](const error&) { (*answer)(std::nullopt); };
    asking_->post(std::move(job));
}

parcel crash_notes::listing(shard_record::kind what, const std::vector<std::string>& ids) const {
    shard_record record;
    record.what = what;
    return written(record, way_, ids);
}

void crash_notes::give_back(const farewell& what, std::chrono::seconds limit, unique_function<void()> done) {
    std::vector<parcel> parcels;
    const auto records = std::make_shared<std::vector<shard_record>>(what.suspects.size());
    parcels.reserve(records->size() + 2);
    if (!what.innocent.empty()) parcels.push_back(listing(shard_record::kind::released, what.innocent));
    for (std::size_t i = 0; i < records->size(); ++i) {
        auto& record = (*records)[i];
        record.what = shard_record::kind::suspect;
        record.id = what.suspects[i].first;
        record.past = std::make_unique<spi::history>();
        record.past->crashes = what.suspects[i].second;
        parcels.push_back(written(record, way_));
    }
    if (!what.missed.empty()) parcels.push_back(listing(shard_record::kind::missed, what.missed));
    post_until_known(publishing_, std::move(parcels), std::chrono::steady_clock::now() + limit,
                     [records, done = std::move(done)](const error&) mutable { done(); });
}

void crash_notes::take(const std::vector<std::string>& ids, unique_function<void()> done) {
    std::vector<parcel> parcels;
    parcels.push_back(listing(shard_record::kind::taken, ids));
    post_until_known(publishing_, std::move(parcels), std::chrono::steady_clock::now() + patience,
                     [done = std::move(done)](const error&) mutable { done(); });
}

void crash_notes::alone(const std::string& id, std::uint32_t crashes, spi::callback<void(error)> done) {
    shard_record record;
    record.what = shard_record::kind::wait;
    record.id = id;
    record.alone = true;
    record.past = std::make_unique<spi::history>();
    record.past->crashes = crashes;
    write(std::move(record), std::move(done));
}

void crash_notes::ended(const std::string& id) {
    shard_record record;
    record.what = shard_record::kind::wait;
    record.id = id;
    write(std::move(record), [](const error&) {});
}

void crash_notes::write(shard_record what, spi::callback<void(error)> done) {
    shipment made;
    made.deadline = std::chrono::steady_clock::now() + patience;
    made.parcels.push_back(written(what, way_));
    made.done = [kept = std::shared_ptr(std::move(what.past)),
                 done = std::move(done)](const std::vector<spi::publish_result>& results) mutable {
        done(results.empty() ? error() : results.front().cause);
    };
    publishing_->post(std::move(made));
}

}  // namespace shove::rabbitmq_backend
