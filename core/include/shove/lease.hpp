#pragma once

#include <shove/detail/asio_forms.hpp>
#include <shove/detail/unique_function.hpp>
#include <shove/lease_message.hpp>
#include <shove/lease_options.hpp>
#include <shove/spi/lease_port.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shove {

namespace detail {

/// What a lease broker shares with its copies.
class lease_core;

/// One operation, checked and ready to be started on the port.
template <class T>
using lease_call = unique_function<void(spi::lease_port&, spi::lease_port::answer<T>)>;

/// Starts it and blocks until it is answered. Defined for what `lease_broker` answers with.
template <class T>
result<T> ask(const std::shared_ptr<lease_core>& core, lease_call<T> call);
/// Starts it; completes on the handler's executor.
template <class T>
void ask_async(const std::shared_ptr<lease_core>& core, lease_call<T> call,
               boost::asio::any_completion_handler<void(error_code, T)> done);

template <class T>
struct lease_operation {
    std::shared_ptr<lease_core> core;
    template <class Done>
    void operator()(Done done, lease_call<T> call) const {
        ask_async<T>(core, std::move(call), std::move(done));
    }
};

}  // namespace detail

/// Messages that are leased by hand: whoever receives one holds it for a time, and settles it with its token, from any
/// process. At least once: deduplicate by `lease_envelope::id`. Made by `open_inprocess_leases` or
/// `open_sqlite_leases`. Cheap to copy; copies share everything. See docs/guide/leases.md.
///
/// @par Thread safety  All members may be called from several threads.
/// @par Blocking       All but the `async_` forms block until the store has answered; what was answered is stored.
/// @par Cancellation   None. The longest wait is `lease_request::wait`.
/// @par Errors         `errc::invalid_argument` (a value breaks a rule of lease_message.hpp; nothing was asked of the
///   store), `clock_out_of_range`, `closed`, `storage_*` and `connection_lost`; beside these, what each call names. The
///   `async_` forms complete with `void(error_code, T)`, T as in the blocking form's `result<T>`.
class lease_broker {
public:
    /// For those who implement a port.
    lease_broker(std::shared_ptr<spi::lease_port> port, lease_options options);

    /// Stores a message for every group of its topic. The same key with the same content answers with the first
    /// message's id; see `lease_receipt::duplicate`.
    /// @par Errors  `too_large` (payload, headers), `capacity_exceeded` (retained messages, sequence),
    ///              `idempotency_conflict` (the key was used for other content).
    result<lease_receipt> publish(lease_message message) const {
        return detail::ask(core_, publishing(std::move(message)));
    }
    template <class Token>
    auto async_publish(lease_message message, Token&& token) const {
        return start(publishing(std::move(message)), token);
    }
    /// Many in one step, at most 10,000, in order. One result each: one that is refused keeps no other back.
    result<spi::lease_receipts> publish_batch(std::vector<lease_message> messages) const {
        return detail::ask(core_, publishing_all(std::move(messages)));
    }
    template <class Token>
    auto async_publish_batch(std::vector<lease_message> messages, Token&& token) const {
        return start(publishing_all(std::move(messages)), token);
    }

    /// Makes a group, if it is not there. The topic is made too.
    /// @par Errors  `capacity_exceeded` (subscriptions).
    result<lease_subscribed> subscribe(std::string topic, std::string group, lease_start from) const {
        return detail::ask(core_, subscribing(std::move(topic), std::move(group), from));
    }
    template <class Token>
    auto async_subscribe(std::string topic, std::string group, lease_start from, Token&& token) const {
        return start(subscribing(std::move(topic), std::move(group), from), token);
    }
    /// Removes a group with its leases and dead letters; messages no longer wait for it. Answers how many did.
    /// @par Errors  `unknown_subscription`.
    result<std::size_t> unsubscribe(std::string topic, std::string group) const {
        return detail::ask(core_, unsubscribing(std::move(topic), std::move(group)));
    }
    template <class Token>
    auto async_unsubscribe(std::string topic, std::string group, Token&& token) const {
        return start(unsubscribing(std::move(topic), std::move(group)), token);
    }

    /// Leases what is due, lowest sequence first; a retried message comes before later ones. Waits for the first one
    /// up to `wait`, then answers with none.
    /// @par Errors  `unknown_subscription`.
    result<std::vector<leased>> receive(lease_request what) const {
        return detail::ask(core_, receiving(std::move(what)));
    }
    template <class Token>
    auto async_receive(lease_request what, Token&& token) const {
        return start(receiving(std::move(what)), token);
    }

    /// Settles a delivery, or extends its lease. Only once; an extended lease's token stays good.
    /// @par Errors  `unknown_lease` (never given, settled, or leased to somebody else since), `lease_expired`: its
    ///              message was given back, or dead-lettered where its attempts were used up, in the same step.
    result<lease_settled> settle(lease_settlement what) const { return detail::ask(core_, settling(std::move(what))); }
    template <class Token>
    auto async_settle(lease_settlement what, Token&& token) const {
        return start(settling(std::move(what)), token);
    }
    /// Many in one step, at most 10,000, one result each.
    result<spi::lease_outcomes> settle_batch(std::vector<lease_settlement> what) const {
        return detail::ask(core_, settling_all(std::move(what)));
    }
    template <class Token>
    auto async_settle_batch(std::vector<lease_settlement> what, Token&& token) const {
        return start(settling_all(std::move(what)), token);
    }
    // Each as `settle`.
    result<lease_settled> acknowledge(const lease_token& token) const {
        return settle(lease_settlement::acknowledge(token));
    }
    result<lease_settled> retry(const lease_token& token, milliseconds after, std::string code) const {
        return settle(lease_settlement::retry(token, after, std::move(code)));
    }
    result<lease_settled> dead_letter(const lease_token& token, std::string code) const {
        return settle(lease_settlement::dead_letter(token, std::move(code)));
    }
    result<lease_settled> extend(const lease_token& token, milliseconds lease) const {
        return settle(lease_settlement::extend(token, lease));
    }

    /// A page of a group's dead letters; they stay until they are redriven or purged.
    /// @par Errors  `unknown_subscription`.
    result<lease_dead_page> dead_letters(lease_dead_query what) const {
        return detail::ask(core_, listing_dead(std::move(what)));
    }
    template <class Token>
    auto async_dead_letters(lease_dead_query what, Token&& token) const {
        return start(listing_dead(std::move(what)), token);
    }
    /// Answers how many went back. A sequence that is no dead letter of the group is passed over.
    /// @par Errors  `unknown_subscription`.
    result<std::size_t> redrive(lease_redrive what) const { return detail::ask(core_, redriving(std::move(what))); }
    template <class Token>
    auto async_redrive(lease_redrive what, Token&& token) const {
        return start(redriving(std::move(what)), token);
    }

    /// Removes up to `limit` (1 to 1,000) messages of a topic that every group has finished, dead letters included,
    /// with their keys; lowest sequence first. Answers how many. Of a topic without a group none.
    result<std::size_t> purge(std::string topic, std::size_t limit) const {
        return detail::ask(core_, purging(std::move(topic), limit));
    }
    template <class Token>
    auto async_purge(std::string topic, std::size_t limit, Token&& token) const {
        return start(purging(std::move(topic), limit), token);
    }

    /// Counts of everything. Reads the groups' small tables and, of a group that lags, an index of its backlog.
    result<lease_stats> stats() const { return detail::ask(core_, counting()); }
    template <class Token>
    auto async_stats(Token&& token) const {
        return start(counting(), token);
    }

    lease_limits limits() const;
    /// Ends waiting receives with `errc::closed`; later calls, also through copies, answer the same. Leases stay.
    void close() const;

private:
    template <class T, class Token>
    auto start(detail::lease_call<T> call, Token& token) const {
        return detail::please_include_shove_async_hpp<void(error_code, T), Token>(detail::lease_operation<T>{core_},
                                                                                  token, std::move(call));
    }
    detail::lease_call<lease_receipt> publishing(lease_message message) const;
    detail::lease_call<spi::lease_receipts> publishing_all(std::vector<lease_message> messages) const;
    detail::lease_call<lease_subscribed> subscribing(std::string topic, std::string group, lease_start from) const;
    detail::lease_call<std::size_t> unsubscribing(std::string topic, std::string group) const;
    detail::lease_call<std::vector<leased>> receiving(lease_request what) const;
    detail::lease_call<lease_settled> settling(lease_settlement what) const;
    detail::lease_call<spi::lease_outcomes> settling_all(std::vector<lease_settlement> what) const;
    detail::lease_call<lease_dead_page> listing_dead(lease_dead_query what) const;
    detail::lease_call<std::size_t> redriving(lease_redrive what) const;
    detail::lease_call<std::size_t> purging(std::string topic, std::size_t limit) const;
    detail::lease_call<lease_stats> counting() const;

    std::shared_ptr<detail::lease_core> core_;
};

}  // namespace shove
