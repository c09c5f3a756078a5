#include "key_book.hpp"

#include <algorithm>
#include <charconv>

#include "cluster.hpp"

namespace shove::kafka_backend {

namespace {

constexpr milliseconds ask_again{200};

/// The end of a topic is told to this reader; others do not want to know.
std::shared_ptr<const kafka::config> telling_the_end(const kafka::config& settings) {
    auto made = std::make_shared<kafka::config>(settings);
    made->properties["enable.partition.eof"] = "true";
    made->group_instance_id.clear();
    return made;
}

}  // namespace

key_book::key_book(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on,
                   std::shared_ptr<control> asking, std::string topic, unique_function<void()> changed)
    : settings_(telling_the_end(*settings)),
      loop_(std::move(on)),
      asking_(std::move(asking)),
      topic_(std::move(topic)),
      changed_(std::move(changed)) {}

error key_book::start() {
    auto made = handle::make(settings_, role::consuming, {}, loop_);
    if (!made) return made.error();
    client_ = std::move(*made);
    const auto list = make_partitions(1);
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_poll_set_consumer(client_->get());
    queue_.reset(rd_kafka_queue_get_consumer(client_->get()));
    bell_ = std::make_shared<loop::bell>(loop_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->read();
    });
    rd_kafka_queue_cb_event_enable(
        queue_.get(), [](rd_kafka_t*, void* to) { loop::bell::ring(*static_cast<std::shared_ptr<loop::bell>*>(to)); },
        &bell_);
    const auto refused = rd_kafka_assign(client_->get(), list.get());
    if (refused != RD_KAFKA_RESP_ERR_NO_ERROR) return broker_error("reading topic '" + topic_ + "'", refused);
    return {};
}

void key_book::close() {
    if (std::exchange(closed_, true)) return;
    if (queue_) rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
    queue_.reset();
    if (bell_) bell_->silence();
    auto client = std::exchange(client_, nullptr);
    // Its end blocks.
    asking_->ask([client](rd_kafka_t*) mutable { client.reset(); }, [](const error&) {});
    client.reset();
    waiting_.clear();
}

void key_book::read() {
    while (queue_) {
        const owned_event event(rd_kafka_queue_poll(queue_.get(), 0));
        if (!event) break;
        if (rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_FETCH) {
            while (const auto* record = rd_kafka_event_message_next(event.get()))
                take(*record);
        } else if (rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            known_ = true;
            if (const auto* at = rd_kafka_event_topic_partition(event.get())) {
                next_ = std::max(next_, at->offset);
                rd_kafka_topic_partition_destroy(const_cast<rd_kafka_topic_partition_t*>(at));
            }
        }
    }
    std::deque<unique_function<void()>> reached;
    while (!waiting_.empty() && waiting_.front().first <= next_) {
        reached.push_back(std::move(waiting_.front().second));
        waiting_.pop_front();
    }
    for (auto& each : reached)
        each();
    if (!closed_ && changed_) changed_();
}

void key_book::take(const rd_kafka_message_t& record) {
    if (record.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        known_ = true;
        next_ = std::max(next_, record.offset);
        return;
    }
    if (record.err != RD_KAFKA_RESP_ERR_NO_ERROR || record.key == nullptr) return;
    next_ = record.offset + 1;
    std::string key(static_cast<const char*>(record.key), record.key_len);
    if (record.payload == nullptr) {
        keys_.erase(key);
        return;
    }
    std::int64_t since = 0;
    const std::string_view text(static_cast<const char*>(record.payload), record.len);
    std::from_chars(text.data(), text.data() + text.size(), since);
    keys_[std::move(key)] = wall_time(std::chrono::microseconds(since));
}

void key_book::ask_end(unique_function<void(std::int64_t)> done) {
    auto kept = std::make_shared<unique_function<void(std::int64_t)>>(std::move(done));
    auto look = [self = shared_from_this(), kept](rd_kafka_t* client) {
        const auto spans = cluster(client, self->asking_->patience()).spans(self->topic_, 1);
        const auto end = spans && spans->size() == 1 ? spans->front().high : -1;
        self->loop_->post([kept, end] { (*kept)(end); });
    };
    asking_->ask(std::move(look), [](const error&) {});
}

void key_book::refresh(unique_function<void()> done) {
    auto kept = std::make_shared<unique_function<void()>>(std::move(done));
    ask_end([weak = weak_from_this(), kept](std::int64_t end) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        if (end < 0) {  // no answer: ask again
            self->loop_->after(ask_again, [weak, kept] {
                if (const auto again = weak.lock()) again->refresh([kept] { (*kept)(); });
            });
            return;
        }
        if (end <= self->next_) return (*kept)();
        self->waiting_.emplace_back(end, [kept] { (*kept)(); });
    });
}

std::string key_book::value_of(wall_time since) {
    return std::to_string(since.time_since_epoch().count());
}

}  // namespace shove::kafka_backend
