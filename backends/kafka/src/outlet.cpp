#include "outlet.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "record.hpp"
#include "refusal.hpp"

namespace shove::kafka_backend {

namespace {

/// How often deadlines of what the client has no room for are looked at.
constexpr milliseconds look_again{20};

owned_headers headers_of(const parcel& what) {
    const written_headers written(what.msg, what.past, what.due);
    owned_headers made(rd_kafka_headers_new(written.list().size()));
    for (const auto& each : written.list()) {
        const bool null = !each.value;
        rd_kafka_header_add(made.get(), each.name.data(), static_cast<ssize_t>(each.name.size()),
                            null ? nullptr : each.value->data(), null ? 0 : static_cast<ssize_t>(each.value->size()));
    }
    return made;
}

void* unchanged(const void* bytes) noexcept {
    return const_cast<void*>(bytes);  // the C interface has no const
}

}  // namespace

/// A shipment on its way.
struct outlet::under_way {
    shipment what;
    std::vector<slot> slots;
    std::size_t sent = 0;
    std::size_t open = 0;                      ///< Without a fate.
    std::vector<spi::publish_result> results;  ///< Empty: all stored so far.
};

/// What the client gives back with a delivery report. It keeps its shipment, and so the message, alive.
struct outlet::slot {
    std::shared_ptr<under_way> of;
    std::size_t index = 0;
};

outlet::outlet(std::shared_ptr<loop> on, make_client make) : loop_(std::move(on)), make_(std::move(make)) {}

outlet::~outlet() {
    finish();
}

void outlet::post(shipment what) {
    if (what.parcels.empty()) return what.done({});
    auto one = std::make_shared<under_way>();
    one->what = std::move(what);
    one->open = one->what.parcels.size();
    one->slots.resize(one->open);
    std::vector<std::shared_ptr<under_way>> ended;
    {
        const std::lock_guard lock(mutex_);
        if (shut_) {
            for (std::size_t i = 0; i < one->slots.size(); ++i)
                give_fate(one, i, spi::publish_status::not_attempted, error(errc::closed, "the broker was closed"),
                          ended);
        } else {
            queue_.push_back(std::move(one));
            if (client_) {
                send_some(ended);
            } else if (!std::exchange(opening_, true)) {
                loop_->post([self = shared_from_this()] { self->open(); });
            }
        }
    }
    tell(ended);
}

void outlet::open() {
    auto made = make_();
    if (!made) return fail_queued(made.error());
    std::vector<std::shared_ptr<under_way>> ended;
    {
        const std::lock_guard lock(mutex_);
        opening_ = false;
        client_ = std::move(*made);
        reports_.reset(rd_kafka_queue_get_main(client_->get()));
        bell_ = std::make_shared<loop::bell>(loop_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->hear();
        });
        rd_kafka_queue_cb_event_enable(
            reports_.get(),
            [](rd_kafka_t*, void* to) { loop::bell::ring(*static_cast<std::shared_ptr<loop::bell>*>(to)); }, &bell_);
        send_some(ended);
    }
    tell(ended);
}

void outlet::fail_queued(const error& why) {
    std::vector<std::shared_ptr<under_way>> ended;
    {
        const std::lock_guard lock(mutex_);
        opening_ = false;
        for (const auto& one : std::exchange(queue_, {})) {
            for (; one->sent < one->slots.size(); ++one->sent)
                give_fate(one, one->sent, spi::publish_status::failed, why, ended);
        }
    }
    tell(ended);
}

void outlet::send_some(std::vector<std::shared_ptr<under_way>>& ended) {
    while (!queue_.empty()) {
        const auto one = queue_.front();
        while (one->sent < one->slots.size()) {
            auto& given = one->slots[one->sent];
            given = {one, one->sent};
            const auto refused = send(one->what.parcels[one->sent], given);
            if (refused == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
                given.of.reset();
                return watch_deadlines();
            }
            const auto index = one->sent++;
            if (refused == RD_KAFKA_RESP_ERR_NO_ERROR) {
                ++unanswered_;
            } else {
                given.of.reset();
                const auto& topic = *one->what.parcels[index].topic;
                give_fate(one, index, spi::publish_status::failed, publish_error(topic, refused), ended);
            }
        }
        queue_.pop_front();
    }
}

/// Made by hand the library asks for its partitions at once; of one that it meets in a message it does so only when its
/// timer of a second goes off.
rd_kafka_topic_t* outlet::topic(const std::string& name) {
    auto& known = topics_[name];
    if (!known) known.reset(rd_kafka_topic_new(client_->get(), name.c_str(), nullptr));
    return known.get();
}

rd_kafka_resp_err_t outlet::send(parcel& what, slot& of) {
    const auto payload = what.msg.payload();
    const auto key = what.msg.key();
    const auto when = std::chrono::floor<milliseconds>(what.msg.published_at()).time_since_epoch().count();
    auto headers = headers_of(what);
    std::array<rd_kafka_vu_t, 8> given{};
    std::size_t count = 0;
    const auto add = [&](rd_kafka_vtype_t type) -> auto& {
        auto& one = given[count++];
        one.vtype = type;
        return one.u;
    };
    add(RD_KAFKA_VTYPE_RKT).rkt = topic(*what.topic);
    add(RD_KAFKA_VTYPE_PARTITION).i32 = what.partition.value_or(RD_KAFKA_PARTITION_UA);
    add(RD_KAFKA_VTYPE_VALUE).mem = {unchanged(payload.data()), payload.size()};
    // Null is a tombstone.
    if (payload.empty()) given[count - 1].u.mem.ptr = what.tombstone ? nullptr : unchanged("");
    if (key) add(RD_KAFKA_VTYPE_KEY).mem = {unchanged(key->empty() ? "" : key->data()), key->size()};
    add(RD_KAFKA_VTYPE_OPAQUE).ptr = &of;
    // A copy is as old as itself, so that retention counts from now.
    if (when > 0 && what.past == nullptr && what.due == wall_time{}) add(RD_KAFKA_VTYPE_TIMESTAMP).i64 = when;
    add(RD_KAFKA_VTYPE_HEADERS).headers = headers.get();
    const owned_error refused(rd_kafka_produceva(client_->get(), given.data(), count));
    if (refused) return rd_kafka_error_code(refused.get());
    (void)headers.release();  // the client's now
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

void outlet::hear() {
    std::vector<std::shared_ptr<under_way>> ended;
    {
        const std::lock_guard lock(mutex_);
        if (!reports_) return;
        while (const owned_event event{rd_kafka_queue_poll(reports_.get(), 0)}) {
            if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_DR) continue;
            while (const auto* report = rd_kafka_event_message_next(event.get())) {
                auto& given = *static_cast<slot*>(report->_private);
                const auto of = std::move(given.of);
                auto status = spi::publish_status::ok;
                error cause;
                if (report->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                    const auto known = rd_kafka_message_status(report);
                    status = known == RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED ? spi::publish_status::unknown
                                                                             : spi::publish_status::failed;
                    cause = publish_error(*of->what.parcels[given.index].topic, report->err,
                                          status == spi::publish_status::unknown);
                }
                --unanswered_;
                give_fate(of, given.index, status, cause, ended);
            }
        }
        if (client_) send_some(ended);
    }
    tell(ended);
}

void outlet::watch_deadlines() {
    if (std::exchange(watching_, true)) return;
    loop_->post([self = shared_from_this()] { self->loop_->after(look_again, [self] { self->expire(); }); });
}

void outlet::expire() {
    std::vector<std::shared_ptr<under_way>> ended;
    {
        const std::lock_guard lock(mutex_);
        watching_ = false;
        if (client_) send_some(ended);
        const auto now = std::chrono::steady_clock::now();
        for (const auto& one : queue_) {
            if (one->what.deadline > now) continue;
            for (; one->sent < one->slots.size(); ++one->sent) {
                give_fate(one, one->sent, spi::publish_status::failed,
                          error(errc::queue_full, "topic '" + *one->what.parcels[one->sent].topic +
                                                      "': too many messages are under way to Kafka already; no room in "
                                                      "time"),
                          ended);
            }
        }
        std::erase_if(queue_, [](const auto& one) { return one->sent == one->slots.size(); });
        if (!queue_.empty()) watch_deadlines();
    }
    tell(ended);
}

void outlet::give_fate(const std::shared_ptr<under_way>& of, std::size_t index, spi::publish_status status,
                       const error& cause, std::vector<std::shared_ptr<under_way>>& ended) {
    if (status != spi::publish_status::ok) {
        if (of->results.empty()) of->results.resize(of->slots.size());
        of->results[index] = {status, cause};
    }
    if (--of->open == 0) ended.push_back(of);
}

void outlet::tell(std::vector<std::shared_ptr<under_way>>& ended) {
    for (auto& one : ended)
        one->what.done(std::move(one->results));
    ended.clear();
}

void outlet::shut() {
    const std::lock_guard lock(mutex_);
    shut_ = true;
}

bool outlet::flush(steady_time until) {
    while (true) {
        std::shared_ptr<handle> client;
        {
            const std::lock_guard lock(mutex_);
            if (unanswered_ == 0 && queue_.empty()) return true;
            client = client_;
        }
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(milliseconds(1));  // real time: the client has no event for "nothing left"
    }
}

void outlet::finish() {
    shut();
    fail_queued(error(errc::closed, "the broker was closed before the message was sent"));
    std::shared_ptr<handle> client;
    {
        const std::lock_guard lock(mutex_);
        client = client_;
    }
    if (!client) return;
    rd_kafka_purge(client->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client->get(), 100);
    hear();
    const std::lock_guard lock(mutex_);
    if (reports_) rd_kafka_queue_cb_event_enable(reports_.get(), nullptr, nullptr);
    reports_.reset();
    topics_.clear();
    client_.reset();
}

}  // namespace shove::kafka_backend
