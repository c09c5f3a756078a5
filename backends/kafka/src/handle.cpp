#include "handle.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace shove::kafka_backend {

/// One queue that is served. librdkafka holds its address until the queue's callback is taken away.
struct handle::watched : std::enable_shared_from_this<handle::watched> {
    owned_queue queue;
    serve with;
    std::shared_ptr<loop> on;
    std::atomic<bool> told = false;  ///< The loop is going to look.
    std::atomic<bool> ended = false;
    std::mutex serving;  ///< Held during `with`: queue and function are not to go then.

    void tell() {
        if (ended || told.exchange(true)) return;
        on->post([self = shared_from_this()] {
            self->told = false;  // before looking: what comes meanwhile tells again
            const std::lock_guard lock(self->serving);
            if (!self->ended) self->with(self->queue.get());
        });
    }
    void end() {
        if (!ended.exchange(true)) rd_kafka_queue_cb_event_enable(queue.get(), nullptr, nullptr);
        // On the loop's thread this may be called by `with` itself.
        if (on->on_thread() && on->post([self = shared_from_this()] { self->drop(); })) return;
        drop();
    }
    void drop() {
        const std::lock_guard lock(serving);
        queue.reset();
        with = nullptr;
    }
};

result<std::shared_ptr<handle>> handle::make(std::shared_ptr<const kafka::config> settings, role what,
                                             const client_options& options, std::shared_ptr<loop> on) {
    auto conf = make_conf(*settings, what, options);
    if (!conf) return conf.error();
    const bool tokens = settings->sasl == kafka::sasl_mechanism::oauthbearer;
    std::shared_ptr<handle> made(new handle);
    made->settings_ = std::move(settings);
    made->on_ = std::move(on);
    rd_kafka_conf_set_opaque(conf->get(), made.get());
    if (tokens) {
        rd_kafka_conf_enable_sasl_queue(conf->get(), 1);
        rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf->get(), [](rd_kafka_t* client, const char*, void* self) {
            refresh_token(client, *static_cast<handle*>(self)->settings_);
        });
    }
    std::array<char, 512> text{};
    made->client_ = rd_kafka_new(what == role::producing ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf->get(),
                                 text.data(), text.size());
    if (!made->client_) {
        const bool config_wrong = rd_kafka_last_error() == RD_KAFKA_RESP_ERR__INVALID_ARG;
        return error(config_wrong ? errc::invalid_argument : errc::internal,
                     std::string("Kafka client: ") + text.data());
    }
    (void)conf->release();  // the client has it now
    // Tokens are got on librdkafka's own thread: a client that nobody serves needs them, too.
    if (tokens) owned_error(rd_kafka_sasl_background_callbacks_enable(made->client_));
    return made;
}

handle::~handle() {
    for (const auto& each : watched_)
        each->end();
    // A consumer's close is its owner's matter: here it would block for a rebalance.
    if (client_) rd_kafka_destroy_flags(client_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

std::size_t handle::watch(owned_queue queue, serve with) {
    auto made = std::make_shared<watched>();
    made->queue = std::move(queue);
    made->with = std::move(with);
    made->on = on_;
    std::size_t number = 0;
    {
        const std::lock_guard lock(mutex_);
        number = watched_.size();
        watched_.push_back(made);
    }
    rd_kafka_queue_cb_event_enable(made->queue.get(), &handle::arrived, made.get());
    made->tell();
    return number;
}

void handle::wake(std::size_t number) {
    std::shared_ptr<watched> which;
    {
        const std::lock_guard lock(mutex_);
        which = watched_.at(number);
    }
    which->tell();
}

void handle::unwatch(std::size_t number) {
    std::shared_ptr<watched> which;
    {
        const std::lock_guard lock(mutex_);
        which = watched_.at(number);
    }
    which->end();
}

void handle::arrived(rd_kafka_t*, void* watched_queue) {
    static_cast<watched*>(watched_queue)->tell();
}

void refresh_token(rd_kafka_t* client, const kafka::config& settings) {
    const auto refused = [&](const std::string& why) { rd_kafka_oauthbearer_set_token_failure(client, why.c_str()); };
    try {
        const auto got = settings.get_token();
        if (!got) return refused("no token: " + got.error().message());
        std::vector<const char*> extensions;
        for (const auto& [name, value] : got->extensions) {
            extensions.push_back(name.c_str());
            extensions.push_back(value.c_str());
        }
        const auto until = std::chrono::duration_cast<std::chrono::milliseconds>(got->expires_at.time_since_epoch());
        std::array<char, 512> text{};
        const auto set =
            rd_kafka_oauthbearer_set_token(client, got->value.c_str(), until.count(), got->principal.c_str(),
                                           extensions.data(), extensions.size(), text.data(), text.size());
        if (set != RD_KAFKA_RESP_ERR_NO_ERROR) refused(text.data());
    } catch (const std::exception& thrown) {
        refused(std::string("get_token threw: ") + thrown.what());
    }
}

}  // namespace shove::kafka_backend
