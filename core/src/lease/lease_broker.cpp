#include <shove/detail/lease_rules.hpp>
#include <shove/lease.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <utility>

#include "../engine/blocking.hpp"
#include "../engine/completion.hpp"
#include "lease_check.hpp"

namespace shove {
namespace detail {

class lease_core {
public:
    lease_core(std::shared_ptr<spi::lease_port> port, lease_options options)
        : port_(std::move(port)), options_(std::move(options)) {}
    ~lease_core() { port_->close(); }
    lease_core(const lease_core&) = delete;
    lease_core& operator=(const lease_core&) = delete;

    spi::lease_port& port() noexcept { return *port_; }
    boost::asio::any_io_executor executor() const {
        if (const auto& given = options_.executor.given()) return *given;
        return boost::asio::system_executor();
    }

private:
    std::shared_ptr<spi::lease_port> port_;
    lease_options options_;
};

template <class T>
result<T> ask(const std::shared_ptr<lease_core>& core, lease_call<T> call) {
    return wait_for<result<T>>([&](auto done) { call(core->port(), std::move(done)); });
}

template <class T>
void ask_async(const std::shared_ptr<lease_core>& core, lease_call<T> call,
               boost::asio::any_completion_handler<void(error_code, T)> done) {
    call(core->port(), [finish = completion_on(core->executor(), std::move(done))](result<T> answer) mutable {
        const auto code = answer ? error_code() : answer.error().code;
        finish(code, answer ? std::move(*answer) : T());
    });
}

namespace {

/// A call that only answers, for what breaks a rule.
template <class T>
lease_call<T> refusing(error why) {
    return [why = std::move(why)](spi::lease_port&, spi::lease_port::answer<T> done) { done(why); };
}

/// For one of a batch of one.
template <class T>
spi::lease_port::answer<std::vector<result<T>>> only(spi::lease_port::answer<T> done) {
    return [done = std::move(done)](result<std::vector<result<T>>> all) mutable {
        if (!all) return done(all.error());
        done(std::move(all->front()));
    };
}

/// What of a batch may go to the port, and what was refused before; the answers are put together again in order.
template <class Item, class T>
class sorted_batch {
public:
    void pass(Item item) {
        places_.push_back(answers_.size());
        answers_.push_back(error(errc::internal));
        items_.push_back(std::move(item));
    }
    void refuse(error why) { answers_.push_back(std::move(why)); }
    bool empty() const noexcept { return items_.empty(); }
    std::vector<Item> take() { return std::move(items_); }
    std::vector<result<T>> with(std::vector<result<T>> given) {
        for (std::size_t i = 0; i < given.size(); ++i)
            answers_[places_[i]] = std::move(given[i]);
        return std::move(answers_);
    }

private:
    std::vector<Item> items_;
    std::vector<std::size_t> places_;
    std::vector<result<T>> answers_;
};

template <class Item, class T, class Start>
lease_call<std::vector<result<T>>> starting(sorted_batch<Item, T> batch, Start start) {
    return [batch = std::move(batch), start](spi::lease_port& port,
                                             spi::lease_port::answer<std::vector<result<T>>> done) mutable {
        if (batch.empty()) return done(batch.with({}));
        auto items = batch.take();
        start(port, std::move(items),
              [batch = std::move(batch), done = std::move(done)](result<std::vector<result<T>>> all) mutable {
                  if (!all) return done(all.error());
                  done(batch.with(std::move(*all)));
              });
    };
}

constexpr std::uint64_t most_of_a_batch = 10'000;

error check_batch(std::size_t size) {
    return check_range("batch", size, 0, most_of_a_batch);
}

}  // namespace

// All that a lease broker answers with.
template result<lease_receipt> ask(const std::shared_ptr<lease_core>&, lease_call<lease_receipt>);
template result<spi::lease_receipts> ask(const std::shared_ptr<lease_core>&, lease_call<spi::lease_receipts>);
template result<lease_subscribed> ask(const std::shared_ptr<lease_core>&, lease_call<lease_subscribed>);
template result<std::size_t> ask(const std::shared_ptr<lease_core>&, lease_call<std::size_t>);
template result<std::vector<leased>> ask(const std::shared_ptr<lease_core>&, lease_call<std::vector<leased>>);
template result<lease_settled> ask(const std::shared_ptr<lease_core>&, lease_call<lease_settled>);
template result<spi::lease_outcomes> ask(const std::shared_ptr<lease_core>&, lease_call<spi::lease_outcomes>);
template result<lease_dead_page> ask(const std::shared_ptr<lease_core>&, lease_call<lease_dead_page>);
template result<lease_stats> ask(const std::shared_ptr<lease_core>&, lease_call<lease_stats>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<lease_receipt>,
                        boost::asio::any_completion_handler<void(error_code, lease_receipt)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<spi::lease_receipts>,
                        boost::asio::any_completion_handler<void(error_code, spi::lease_receipts)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<lease_subscribed>,
                        boost::asio::any_completion_handler<void(error_code, lease_subscribed)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<std::size_t>,
                        boost::asio::any_completion_handler<void(error_code, std::size_t)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<std::vector<leased>>,
                        boost::asio::any_completion_handler<void(error_code, std::vector<leased>)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<lease_settled>,
                        boost::asio::any_completion_handler<void(error_code, lease_settled)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<spi::lease_outcomes>,
                        boost::asio::any_completion_handler<void(error_code, spi::lease_outcomes)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<lease_dead_page>,
                        boost::asio::any_completion_handler<void(error_code, lease_dead_page)>);
template void ask_async(const std::shared_ptr<lease_core>&, lease_call<lease_stats>,
                        boost::asio::any_completion_handler<void(error_code, lease_stats)>);

}  // namespace detail

using detail::lease_call;

lease_broker::lease_broker(std::shared_ptr<spi::lease_port> port, lease_options options)
    : core_(std::make_shared<detail::lease_core>(std::move(port), std::move(options))) {}

lease_call<lease_receipt> lease_broker::publishing(lease_message message) const {
    if (auto wrong = detail::check_message(message, limits())) return detail::refusing<lease_receipt>(std::move(wrong));
    return [message = std::move(message)](spi::lease_port& port, spi::lease_port::answer<lease_receipt> done) mutable {
        std::vector<spi::lease_publish> one;
        const auto content = detail::fingerprint_of(message);
        one.push_back({std::move(message), content});
        port.publish(std::move(one), detail::only<lease_receipt>(std::move(done)));
    };
}

lease_call<spi::lease_receipts> lease_broker::publishing_all(std::vector<lease_message> messages) const {
    if (auto wrong = detail::check_batch(messages.size()))
        return detail::refusing<spi::lease_receipts>(std::move(wrong));
    detail::sorted_batch<spi::lease_publish, lease_receipt> batch;
    const auto bounds = limits();
    for (auto& message : messages) {
        if (auto wrong = detail::check_message(message, bounds)) {
            batch.refuse(std::move(wrong));
        } else {
            const auto content = detail::fingerprint_of(message);
            batch.pass({std::move(message), content});
        }
    }
    return detail::starting(std::move(batch), [](spi::lease_port& port, auto items, auto done) {
        port.publish(std::move(items), std::move(done));
    });
}

lease_call<lease_subscribed> lease_broker::subscribing(std::string topic, std::string group, lease_start from) const {
    if (auto wrong = detail::check_topic(topic)) return detail::refusing<lease_subscribed>(std::move(wrong));
    if (auto wrong = detail::check_name("consumer group", group)) {
        return detail::refusing<lease_subscribed>(std::move(wrong));
    }
    return [topic = std::move(topic), group = std::move(group), from](
               spi::lease_port& port, spi::lease_port::answer<lease_subscribed> done) mutable {
        port.subscribe(std::move(topic), std::move(group), from, std::move(done));
    };
}

lease_call<std::size_t> lease_broker::unsubscribing(std::string topic, std::string group) const {
    if (auto wrong = detail::check_topic(topic)) return detail::refusing<std::size_t>(std::move(wrong));
    if (auto wrong = detail::check_name("consumer group", group))
        return detail::refusing<std::size_t>(std::move(wrong));
    return [topic = std::move(topic), group = std::move(group)](spi::lease_port& port,
                                                                spi::lease_port::answer<std::size_t> done) mutable {
        port.unsubscribe(std::move(topic), std::move(group), std::move(done));
    };
}

lease_call<std::vector<leased>> lease_broker::receiving(lease_request what) const {
    if (auto wrong = detail::check_request(what)) return detail::refusing<std::vector<leased>>(std::move(wrong));
    return [what = std::move(what)](spi::lease_port& port, spi::lease_port::answer<std::vector<leased>> done) mutable {
        port.receive(std::move(what), std::move(done));
    };
}

lease_call<lease_settled> lease_broker::settling(lease_settlement what) const {
    if (auto wrong = detail::check_settlement(what)) return detail::refusing<lease_settled>(std::move(wrong));
    return [what = std::move(what)](spi::lease_port& port, spi::lease_port::answer<lease_settled> done) mutable {
        port.settle({std::move(what)}, detail::only<lease_settled>(std::move(done)));
    };
}

lease_call<spi::lease_outcomes> lease_broker::settling_all(std::vector<lease_settlement> what) const {
    if (auto wrong = detail::check_batch(what.size())) return detail::refusing<spi::lease_outcomes>(std::move(wrong));
    detail::sorted_batch<lease_settlement, lease_settled> batch;
    for (auto& each : what) {
        if (auto wrong = detail::check_settlement(each)) {
            batch.refuse(std::move(wrong));
        } else {
            batch.pass(std::move(each));
        }
    }
    return detail::starting(std::move(batch), [](spi::lease_port& port, auto items, auto done) {
        port.settle(std::move(items), std::move(done));
    });
}

lease_call<lease_dead_page> lease_broker::listing_dead(lease_dead_query what) const {
    if (auto wrong = detail::check_dead_query(what)) return detail::refusing<lease_dead_page>(std::move(wrong));
    return [what = std::move(what)](spi::lease_port& port, spi::lease_port::answer<lease_dead_page> done) mutable {
        port.dead_letters(std::move(what), std::move(done));
    };
}

lease_call<std::size_t> lease_broker::redriving(lease_redrive what) const {
    if (auto wrong = detail::check_redrive(what)) return detail::refusing<std::size_t>(std::move(wrong));
    return [what = std::move(what)](spi::lease_port& port, spi::lease_port::answer<std::size_t> done) mutable {
        port.redrive(std::move(what), std::move(done));
    };
}

lease_call<std::size_t> lease_broker::purging(std::string topic, std::size_t limit) const {
    if (auto wrong = detail::check_purge(topic, limit)) return detail::refusing<std::size_t>(std::move(wrong));
    return [topic = std::move(topic), limit](spi::lease_port& port, spi::lease_port::answer<std::size_t> done) mutable {
        port.purge(std::move(topic), limit, std::move(done));
    };
}

lease_call<lease_stats> lease_broker::counting() const {
    return [](spi::lease_port& port, spi::lease_port::answer<lease_stats> done) { port.stats(std::move(done)); };
}

lease_limits lease_broker::limits() const {
    return core_->port().limits();
}

void lease_broker::close() const {
    core_->port().close();
}

}  // namespace shove
