#include "site.hpp"

#include <utility>

namespace shove::rabbitmq_test {

using namespace std::chrono_literals;

rabbit_broker open_quietly(const std::string& url) {
    broker_options quiet;
    quiet.log = [](log_level, std::string_view) {};
    quiet.depth_samples = 0ms;
    return rabbit_broker(rabbitmq::parse(url).value(), quiet);
}

site::site(const rabbitmq_server& on, std::string_view options, const shape& of)
    : server_(on),
      host_(on),
      network_(on.port()),
      topic_(
          runtime_topic::make(of ? of(shove::topology("orders")) : shove::topology("orders").hold(5ms).dlq()).value()),
      broker_(open_quietly(host_.url(network_.port()) + std::string(options))) {
    broker_->declare(topic_);
}

void site::publish(const std::string& id, const std::string& key) {
    publish_options how;
    how.id = id;
    if (!key.empty()) how.key = key;
    broker_->publisher().publish(topic_, "body", how);
}

rabbit_group site::consume(detail::raw_function handler, consumer_options how) {
    auto group = broker_->consumer_group();
    group.add(topic_, std::move(handler), std::move(how));
    group.start();
    return group;
}

void site::remove(std::string_view kind, std::string_view name) const {
    server_.expect("DELETE",
                   "/api/" + std::string(kind) + "/" + percent_encoded(host_.name()) + "/" + percent_encoded(name));
}

void site::wait_for(const queue_counts& what, std::string_view queue) const {
    testkit::eventually("what queue '" + std::string(queue) + "' should hold",
                        [&] { return host_.counts(queue) == what; });
}

traffic::traffic(site& on)
    : site_(on), group_(on.consume([handled = handled_](std::span<const std::byte>, const delivery& info) {
          handled.add(std::string(info.id()));
          return ack;
      })) {
    publishing_ = std::thread([this] { publish_all(); });
}

traffic::~traffic() {
    over_ = true;
    if (publishing_.joinable()) publishing_.join();
    (void)group_.stop(testkit::patience());
}

void traffic::publish_all() {
    const auto publisher = site_.broker().publisher();
    publish_options how;
    how.timeout = 3s;
    for (std::size_t n = 0; !over_; ++n) {
        how.id = "m" + std::to_string(n);
        if (publisher.try_publish(site_.topic(), "body", how)) confirmed_.add(how.id);
    }
}

void traffic::goes_on(std::size_t messages) {
    const auto before = confirmed_.size();
    confirmed_.wait(before + messages, "publishing to go on");
    testkit::eventually("handling to go on", [&] {
        const auto all = handled_.all();
        const std::set<std::string> handled(all.begin(), all.end());
        return handled.contains(confirmed_.all().at(before + messages - 1));
    });
}

std::set<std::string> traffic::unhandled() const {
    const auto confirmed = confirmed_.all();
    std::set<std::string> left(confirmed.begin(), confirmed.end());
    for (const auto& id : handled_.all())
        left.erase(id);
    return left;
}

std::set<std::string> traffic::lost() {
    over_ = true;
    if (publishing_.joinable()) publishing_.join();
    try {
        testkit::eventually(
            "the rest to be handled", [&] { return unhandled().empty(); }, 10s);
    } catch (const testkit::impatience&) {  // said by what is given
    }
    return unhandled();
}

}  // namespace shove::rabbitmq_test
