#include "desk.hpp"

#include <algorithm>
#include <utility>

namespace shove::kafka_backend {

void desk::run(unique_function<void()> what, unique_function<void(const error&)> refused) {
    asking_->ask(
        [self = shared_from_this(), what = std::move(what)](rd_kafka_t* client) mutable {
            self->client_ = client;
            what();
        },
        std::move(refused));
}

bool desk::knows(const std::string& topic) {
    const std::lock_guard lock(mutex_);
    return known_.contains(topic);
}

void desk::note(const std::vector<std::string>& topics) {
    const std::lock_guard lock(mutex_);
    known_.insert(topics.begin(), topics.end());
}

void desk::forget(const std::string& topic) {
    const std::lock_guard lock(mutex_);
    known_.erase(topic);
}

void desk::ensure(const std::string& topic, const std::string& like, spi::callback<void(error, bool)> done) {
    if (knows(topic)) return done({}, false);
    auto kept = std::make_shared<decltype(done)>(std::move(done));
    auto work = [self = shared_from_this(), topic, like, kept] {
        const auto there = self->on().partitions(topic);
        if (there && *there > 0) {
            self->note({topic});
            return (*kept)({}, true);
        }
        const auto count = self->on().partitions(like);
        if (!count) return (*kept)(count.error(), false);
        new_topic one;
        one.name = topic;
        one.partitions = std::max(*count, 1);
        one.replication = self->asking_->settings().topics.replication;
        (*kept)(self->make_now({one}), true);
    };
    run(std::move(work), [kept](const error& why) { (*kept)(why, false); });
}

void desk::look_for(const std::string& topic, spi::callback<void(error, bool)> done) {
    if (knows(topic)) return done({}, true);
    auto kept = std::make_shared<decltype(done)>(std::move(done));
    auto work = [self = shared_from_this(), topic, kept] {
        const auto count = self->on().partitions(topic);
        if (!count) return (*kept)(count.error(), false);
        if (*count > 0) self->note({topic});
        (*kept)({}, *count > 0);
    };
    run(std::move(work), [kept](const error& why) { (*kept)(why, false); });
}

error desk::make_now(const std::vector<new_topic>& topics) {
    if (auto failed = on().make(topics)) return failed;
    for (const auto& one : topics)
        note({one.name});
    return {};
}

}  // namespace shove::kafka_backend
