#include "stage.hpp"

#include <unistd.h>

#include <atomic>

#include "watched.hpp"

namespace shove::testkit {
namespace {

constexpr std::string_view numbered_stem = "SECRET-m";

}  // namespace

seen copy_of(const delivery& from) {
    seen made;
    made.called_at = std::chrono::steady_clock::now();
    made.id = from.id();
    made.queue = from.queue();
    made.payload = text_of(from.payload());
    made.content_type = from.content_type();
    made.type = from.type();
    if (from.key()) made.key = std::string(*from.key());
    made.headers = headers(from.headers());
    made.attempt = from.attempt();
    made.redelivered = from.redelivered();
    made.published_at = from.published_at();
    made.age = from.age();
    made.expires_at = from.expires_at();
    made.first_error = from.first_error();
    made.last_error = from.last_error();
    made.retries = from.retries();
    made.crashes = from.crashes();
    made.first_failed_at = from.first_failed_at();
    made.last_failed_at = from.last_failed_at();
    if (const auto death = from.death()) {
        made.death =
            seen::death_record{std::string(death->reason), std::string(death->original_queue), death->count, death->at};
    }
    return made;
}

outcome probe::operator()(std::span<const std::byte>, const delivery& info) const {
    auto noted = copy_of(info);
    calls_.add(noted);
    return answer_(noted, info);
}

running::~running() {
    if (!stopped_) stop();
}

run_outcome running::stop(milliseconds drain) {
    stopped_ = true;
    return group_.stop(drain);
}

result<receipt> any_publisher::try_publish(const runtime_topic& topic, std::string_view body,
                                           const publish_options& how) const {
    watch_->keep_message(std::as_bytes(std::span(body)), how.headers);
    auto made = plain::try_publish(topic, body, how);
    if (!made) watch_->told("an error of a publisher", made.error());
    return made;
}

batch_report any_publisher::publish_batch(const runtime_topic& topic, std::span<const raw_outgoing> messages) const {
    for (const auto& each : messages)
        watch_->keep_message(std::as_bytes(std::span(each.body)), each.options.headers);
    auto report = plain::publish_batch(topic, messages);
    for (const auto& each : report.each)
        watch_->told("an error of a publisher", each.cause);
    return report;
}

stage::stage(const backend_factory& factory) : factory_(watched(factory, watch_)) {}

std::vector<std::string> stage::leaks() {
    broker_.reset();
    return watch_->leaks();
}

backend_store& stage::store() {
    if (!store_) store_ = factory_.make_store();
    return *store_;
}

any_broker& stage::broker() {
    if (!broker_) broker_.emplace(store().open(options_));
    return *broker_;
}

std::string stage::fresh_name(std::string_view stem) {
    static std::atomic<unsigned> next{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return std::string(stem) + "-" + std::to_string(getpid()) + "-" + std::to_string(now) + "-" +
           std::to_string(++next);
}

running stage::consume(const runtime_topic& topic, probe handler, consumer_options how) {
    return running(group().add(topic, std::move(handler), how));
}

running stage::consume_dead(const runtime_topic& topic, probe handler, consumer_options how) {
    return running(group().add_dead(topic, std::move(handler), how));
}

std::vector<seen> stage::take(const runtime_topic& topic, std::size_t n) {
    const probe taker;
    auto taking = consume(topic, taker, consumer_options{}.sequential());
    taker.wait(n, "messages of " + queue_of(topic));
    taking.stop();
    return taker.all();
}

std::vector<seen> stage::take_dead(const runtime_topic& topic, std::size_t n) {
    const probe taker;
    auto taking = consume_dead(topic, taker, consumer_options{}.sequential());
    taker.wait(n, "dead letters of " + queue_of(topic));
    taking.stop();
    return taker.all();
}

bool is_empty(const spi::queue_depth& depth) noexcept {
    return depth.ready + depth.in_flight + depth.delayed == 0;
}

void stage::wait_empty(std::string_view queue) {
    eventually("queue empty: " + std::string(queue),
               lasting(factory().unseen, [&] { return is_empty(broker().depth(queue)); }));
}

void stage::wait_empty(const runtime_topic& topic) {
    eventually("nothing left", lasting(factory().unseen, [&] { return is_empty(broker().depth(topic)); }));
}

void stage::expect_counted(std::string_view what, const std::function<bool()>& holds) {
    if (factory().unseen.count() > 0) return eventually(what, holds);
    EXPECT_TRUE(holds()) << what;
}

void stage::wait_ready(std::string_view queue, std::uint64_t n) {
    eventually(std::to_string(n) + " ready in " + std::string(queue), [&] { return broker().depth(queue).ready == n; });
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string every_byte(std::size_t size) {
    std::string made(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        made[i] = static_cast<char>((i * 131 + i / 256) & 0xff);
    return made;
}

std::string numbered_body(std::size_t number) {
    return std::string(numbered_stem) + std::to_string(number);
}

std::size_t number_in(std::string_view body) {
    return std::stoul(std::string(body.substr(numbered_stem.size())));
}

std::vector<std::string> numbered_bodies(std::size_t n) {
    std::vector<std::string> made;
    made.reserve(n);
    for (std::size_t i = 0; i < n; ++i)
        made.push_back(numbered_body(i));
    return made;
}

std::vector<any_publisher::raw_outgoing> numbered(std::vector<std::string>& kept, std::size_t n) {
    kept = numbered_bodies(n);
    return {kept.begin(), kept.end()};
}

void publish_numbered(stage& on, const runtime_topic& topic, std::size_t n) {
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, n)).all_stored());
}

publish_options delayed(milliseconds delay) {
    publish_options made;
    made.delay = delay;
    return made;
}

publish_options expiring(milliseconds expires_in, milliseconds delay) {
    auto made = delayed(delay);
    made.expires_in = expires_in;
    return made;
}

std::vector<std::string> payloads(const std::vector<seen>& from) {
    std::vector<std::string> made;
    for (const auto& each : from)
        made.push_back(each.payload);
    return made;
}

}  // namespace shove::testkit
