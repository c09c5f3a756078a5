#include "driver.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

#include "check_config.hpp"
#include "layout.hpp"
#include "refusal.hpp"
#include "subscription.hpp"

namespace shove::kafka_backend {

namespace {

spi::publish_report all_failed(std::size_t count, const error& why) {
    spi::publish_report made;
    made.each.resize(count, {spi::publish_status::failed, why});
    return made;
}

}  // namespace

driver::driver(std::shared_ptr<const kafka::config> settings, std::shared_ptr<shove::clock> time) : names_(*settings) {
    shared_.settings = std::move(settings);
    shared_.clock = std::move(time);
    shared_.on = std::make_shared<loop>();
    shared_.asking = std::make_shared<control>(shared_.settings, shared_.on);
    topologies_ = std::make_unique<topologies>(shared_.asking);
    desk_ = std::make_shared<kafka_backend::desk>(shared_.asking);
    publishing_ = std::make_shared<outlet>(
        shared_.on, [shared = shared_] { return handle::make(shared.settings, role::producing, {}, shared.on); });
}

error driver::open() {
    if (shared_.settings->transactional) {
        return {errc::unsupported, "Kafka settings: transactional=true is not there yet; leave it out"};
    }
    admin_ = make_admin();
    return shared_.asking->open();
}

driver::~driver() {
    close(std::chrono::steady_clock::now(), [](const error&) {});
    if (closing_.joinable()) closing_.join();
    publishing_->finish();
    shared_.asking->finish();
    if (admin_) admin_->finish();
    shared_.on->finish();
}

driver::topology_ptr driver::prefixed(const queue_topology& of) const {
    auto made = std::make_shared<queue_topology>(of);
    const auto& prefix = shared_.settings->prefix;
    made->queue = prefix + of.queue;
    made->reader_queue = prefix + of.reader_queue;
    if (!of.dead_letter_queue.empty()) made->dead_letter_queue = prefix + of.dead_letter_queue;
    return made;
}

void driver::remember(const topology_ptr& given) {
    const auto topology = prefixed(*given);
    counted_place main;
    main.topic = topology->queue;
    main.group = names_.group_of(*given);
    main.broadcast = topology->broadcast;
    auto reads = topics_read(*topology, false);
    main.waits.assign(reads.begin() + 1, reads.end());
    const std::lock_guard lock(mutex_);
    if (given->sequencing) {
        main.shards = given->sequencing->shards();
        for (std::uint16_t i = 0; i < main.shards; ++i) {
            main.shard = i;
            places_[given->place_of(i)] = main;
        }
        main.shard = -1;
    }
    places_[given->reader_queue] = main;
    if (given->dead_letter_queue.empty()) return;
    counted_place dead;
    dead.topic = topology->dead_letter_queue;
    auto again = topics_read(*topology, true);
    dead.waits.assign(again.begin() + 1, again.end());
    dead.group = names_.dead_group_of(*given);
    dead.dead = true;
    places_[given->dead_letter_queue] = dead;
}

void driver::declare(topology_ptr topology, spi::callback<void(error)> done) {
    auto kept = std::make_shared<decltype(done)>(std::move(done));
    topologies_->declare(topology, [this, topology, kept](const error& why) {
        if (why) return (*kept)(why);
        remember(topology);
        const auto made = prefixed(*topology);
        auto topics = waits_declared(*made);
        topics.push_back(made->queue);
        if (!made->dead_letter_queue.empty()) topics.push_back(made->dead_letter_queue);
        desk_->note(topics);
        (*kept)({});
    });
}

void driver::publish(const queue_topology& topology, spi::publish_request request,
                     spi::callback<void(spi::publish_report)> done) {
    auto topic = std::make_shared<const std::string>(shared_.settings->prefix + topology.queue);
    auto kept = std::make_shared<spi::callback<void(spi::publish_report)>>(std::move(done));
    auto asked = std::make_shared<spi::publish_request>(std::move(request));
    desk_->look_for(*topic, [this, topic, asked, kept](const error& why, bool there) {
        if (why) return (*kept)(all_failed(asked->messages.size(), why));
        if (!there) {
            return (*kept)(
                all_failed(asked->messages.size(), publish_error(*topic, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)));
        }
        send(topic, std::move(*asked), std::move(*kept));
    });
}

void driver::send(const std::shared_ptr<const std::string>& topic, spi::publish_request request,
                  spi::callback<void(spi::publish_report)> done) {
    shipment made;
    made.deadline = request.deadline;
    std::vector<std::string> needed;
    for (auto& each : request.messages) {
        parcel one;
        one.msg = std::move(each.msg);
        one.topic = topic;
        if (each.delay.count() > 0) {
            auto name = later_topic(*topic, wait_class_of(each.delay));
            one.due = std::chrono::time_point_cast<std::chrono::microseconds>(shared_.clock->wall() + each.delay);
            if (std::ranges::find(needed, name) == needed.end()) needed.push_back(name);
            one.topic = std::make_shared<const std::string>(std::move(name));
        }
        made.parcels.push_back(std::move(one));
    }
    made.done = [desk = desk_, topic, done = std::move(done)](std::vector<spi::publish_result> results) mutable {
        const bool gone =
            std::ranges::any_of(results, [](const auto& one) { return one.cause == errc::unknown_queue; });
        if (gone) desk->forget(*topic);
        done(spi::publish_report{std::move(results)});
    };
    if (needed.empty()) return publishing_->post(std::move(made));
    const auto shipped = std::make_shared<shipment>(std::move(made));
    const auto left = std::make_shared<std::atomic<std::size_t>>(needed.size());
    for (const auto& name : needed) {
        parts().ensure(name, *topic, [this, left, shipped](const error&) {
            if (--*left == 0) publishing_->post(std::move(*shipped));
        });
    }
}

member_parts driver::parts() {
    member_parts made;
    made.settings = shared_.settings;
    made.on = shared_.on;
    made.asking = shared_.asking;
    made.commit_interval = shared_.settings->commit_interval;
    made.commit_count = shared_.settings->commit_count;
    made.publishing = publishing_;
    made.time = shared_.clock;
    if (shared_.settings->reset == kafka::offset_reset::earliest) made.first_offset = RD_KAFKA_OFFSET_BEGINNING;
    made.make_client = [shared = shared_](const std::string& group) {
        client_options how;
        how.group_id = group;
        how.group_instance_id = shared.settings->group_instance_id;
        return handle::make(shared.settings, role::consuming, how, shared.on);
    };
    made.forget = [desk = desk_](const std::string& topic) { desk->forget(topic); };
    made.ensure = [this](const std::string& topic, const std::string& like, spi::callback<void(error)> done) {
        auto kept = std::make_shared<decltype(done)>(std::move(done));
        desk_->ensure(topic, like, [this, like, kept](const error& why, bool made_now) {
            if (made_now) look_again(like);
            (*kept)(why);
        });
    };
    return made;
}

void driver::look_again(const std::string& main) {
    shared_.on->post([this, main] {
        for (const auto& [which, each] : members_) {
            if (which.second == main) each->look_again();
        }
    });
}

member_plan driver::plan_of(const queue_topology& given, bool dead) const {
    const auto known = prefixed(given);
    const auto& topology = *known;
    member_plan made;
    made.place = dead ? topology.dead_letter_queue : topology.reader_queue;
    made.group = dead ? names_.dead_group_of(given) : names_.group_of(given);
    made.topics = topics_read(topology, dead);
    made.dead = dead;
    if (!dead && !topology.dead_letter_queue.empty()) {
        made.dead_letters = std::make_shared<const std::string>(topology.dead_letter_queue);
    }
    if (!dead && topology.sequencing) {
        made.shards = topology.sequencing->shards();
        if (topology.sequencing->on_failure == sequence_failure::fail_all)
            made.keys = keys_topic(topology.reader_queue);
    }
    return made;
}

void driver::subscribe(spi::source from, subscribed done) {
    if (from.prefetch == 0) {
        return done(error(errc::invalid_argument, "queue '" + from.topology->queue + "': prefetch must be at least 1"));
    }
    const auto& topology = from.topology;
    remember(topology);
    if (from.broadcast) return listen(from, topology, std::move(done));
    join(from, topology, std::move(done));
}

void driver::join(const spi::source& from, const topology_ptr& topology, subscribed done) {
    auto kept = std::make_shared<subscribed>(std::move(done));
    const bool posted = shared_.on->post([this, from, topology, kept] {
        auto plan = plan_of(*topology, from.dead_letters);
        auto& place = members_[{plan.group, plan.topics.front()}];
        if (!place || place->leaving()) {
            if (place && !place->gone()) others_.push_back(place);
            auto made = std::make_shared<member>(parts(), std::move(plan));
            if (auto failed = made->start()) return (*kept)(failed);
            place = std::move(made);
        }
        auto who = std::make_shared<receiver>();
        who->id = ++receivers_;
        who->shard = from.shard;
        who->prefetch = from.prefetch;
        place->attach(who);
        (*kept)(std::shared_ptr<spi::subscription>(std::make_shared<subscription>(shared_.on, place, who)));
    });
    if (!posted) (*kept)(closed_error());
}

void driver::listen(const spi::source& from, const topology_ptr& topology, subscribed done) {
    auto kept = std::make_shared<subscribed>(std::move(done));
    desk_->run([this, from, topology, kept] { (*kept)(listen_now(from, *topology)); },
               [kept](const error& why) { (*kept)(why); });
}

result<std::shared_ptr<spi::subscription>> driver::listen_now(const spi::source& from, const queue_topology& topology) {
    auto plan = plan_of(topology, false);
    plan.groupless = true;
    plan.group = shared_.settings->prefix + from.topology->queue + "-broadcast";
    const auto on = desk_->on();
    for (const auto& topic : plan.topics) {
        auto count = on.partitions(topic);
        if (!count) return count.error();
        if (*count == 0 && topic == plan.topics.front()) {
            return error(errc::unknown_queue, "topic '" + topic + "' is not on this Kafka cluster; declare it first");
        }
        if (*count == 0) {  // where delayed messages wait: nobody would tell this reader when it is made
            new_topic one;
            one.name = topic;
            one.replication = shared_.settings->topics.replication;
            if (auto failed = desk_->make_now({one})) return failed;
            count = 1;
        }
        const auto spans = on.spans(topic, *count);
        if (!spans) return spans.error();
        std::vector<std::int64_t> offsets;
        offsets.reserve(spans->size());
        for (const auto& one : *spans)
            offsets.push_back(from.broadcast->from == broadcast_start::kind::head ? one.low : one.high);
        if (from.broadcast->from == broadcast_start::kind::time) {
            auto since = on.offsets_since(topic, *count, from.broadcast->when);
            if (!since) return since.error();
            offsets = std::move(*since);
        }
        plan.starts.emplace_back(topic, std::move(offsets));
    }
    std::promise<result<std::shared_ptr<spi::subscription>>> answer;
    const bool posted = shared_.on->post([&] {
        auto made = std::make_shared<member>(parts(), std::move(plan));
        if (auto failed = made->start()) return answer.set_value(failed);
        std::erase_if(others_, [](const auto& one) { return one->gone(); });
        others_.push_back(made);
        auto who = std::make_shared<receiver>();
        who->id = ++receivers_;
        who->prefetch = from.prefetch;
        made->attach(who);
        answer.set_value(std::shared_ptr<spi::subscription>(std::make_shared<subscription>(shared_.on, made, who)));
    });
    if (!posted) return closed_error();
    return answer.get_future().get();
}

void driver::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    {
        // Who asks while a count of that queue has not begun is answered by it: samples may be taken faster than
        // counts.
        const std::lock_guard lock(mutex_);
        auto& waiting = counting_[queue];
        waiting.push_back(std::move(done));
        if (waiting.size() > 1) return;
    }
    const auto take = [this, queue] {
        const std::lock_guard lock(mutex_);
        auto found = counting_.extract(queue);
        std::vector<spi::callback<void(result<spi::queue_depth>)>> all;
        if (found) all = std::move(found.mapped());
        return all;
    };
    desk_->run(
        [this, queue, take] {
            auto waiting = take();
            const auto told = count(queue);
            for (auto& each : waiting)
                each(told);
        },
        [take](const error& why) {
            for (auto& each : take())
                each(why);
        });
}

result<spi::queue_depth> driver::count(const std::string& queue) {
    const auto known_place = place_of(queue);
    if (!known_place) return known_place.error();
    const auto& place = *known_place;
    spi::queue_depth made;
    std::vector<std::string> topics{place.topic};
    topics.insert(topics.end(), place.waits.begin(), place.waits.end());
    const auto on = desk_->on();
    for (const auto& topic : topics) {
        const auto parts = on.partitions(topic);
        if (!parts) return parts.error();
        if (*parts == 0) {
            if (topic != place.topic) continue;
            return error(errc::unknown_queue,
                         "queue '" + queue + "' is not on this Kafka cluster; declare its topic first");
        }
        if (place.broadcast) return made;
        const auto known = on.committed(place.group, topic, *parts);
        if (!known) return known.error();
        const auto ends = on.spans(topic, *parts);
        if (!ends) return ends.error();
        std::promise<std::vector<member::share>> told;
        const bool posted = shared_.on->post([&] {
            const auto found = members_.find({place.group, place.topic});
            told.set_value(found == members_.end() ? std::vector<member::share>() : found->second->shares(topic));
        });
        if (!posted) return closed_error();
        const auto mine = told.get_future().get();
        for (int i = 0; i < *parts; ++i) {
            if (place.shard >= 0 && i % place.shards != place.shard) continue;
            const auto& end = (*ends)[static_cast<std::size_t>(i)];
            std::uint64_t left = 0;
            const auto own = std::ranges::find(mine, i, &member::share::partition);
            if (own != mine.end()) {
                const auto unread = std::max<std::int64_t>(0, end.high - std::max(own->next, end.low));
                left = static_cast<std::uint64_t>(unread) + own->unsettled;
                made.in_flight += own->handed;
                left -= std::min<std::uint64_t>(left, own->handed);
            } else {
                const auto at = known->find(i);
                auto open = end.high - (at == known->end() ? end.low : std::max(at->second.offset, end.low));
                if (at != known->end()) {
                    const auto note = commit_note::read(at->second.metadata, at->second.offset);
                    for (const auto& run : note ? note->settled : std::vector<offset_run>())
                        open -= run.count;
                }
                left = static_cast<std::uint64_t>(std::max<std::int64_t>(0, open));
            }
            (topic == place.topic ? made.ready : made.delayed) += left;
        }
    }
    return made;
}

void driver::close(steady_time deadline, spi::callback<void(error)> done) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_, true)) return done({});
    }
    closing_ = std::thread([this, deadline, done = std::move(done)]() mutable {
        // Members leave; then what they have published is flushed; then all ends.
        std::promise<void> left;
        const bool posted = shared_.on->post([&] {
            auto all = others_;
            for (const auto& [which, each] : members_)
                all.push_back(each);
            members_.clear();
            others_.clear();
            const auto open = std::make_shared<std::size_t>(all.size() + 1);
            const auto down = [open, &left] {
                if (--*open == 0) left.set_value();
            };
            for (const auto& each : all)
                each->leave(deadline, false, [down](const error&) { down(); });
            down();
        });
        if (posted) left.get_future().get();
        publishing_->shut();
        const bool flushed = publishing_->flush(deadline);
        shared_.asking->shut();
        const bool in_time = shared_.asking->wait_stopped(deadline) && flushed;
        done(in_time ? error() : error(errc::timed_out, "closing the connections to Kafka took too long"));
    });
}

}  // namespace shove::kafka_backend
