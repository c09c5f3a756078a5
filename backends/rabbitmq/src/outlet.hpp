#pragma once

#include <shove/spi/driver.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "link.hpp"
#include "wire_out.hpp"

namespace shove::rabbitmq_backend {

/// Where a message goes.
struct route {
    std::string exchange;
    std::string routing_key;
    bool by_key = false;    ///< The routing key is the message's key instead.
    bool by_shard = false;  ///< Or, where its shard is known, the shard's number.
    bool mandatory = true;  ///< Where no queue takes it, that is an error.
};

/// One message to be published.
struct parcel {
    message msg;
    std::shared_ptr<const route> to;
    const spi::history* past = nullptr;  ///< Lives until `shipment::done`.
    headers notes{};                     ///< The driver's own, beside the message's.
};

/// Messages to be published, in order, and who wants to know what became of them.
struct shipment {
    std::vector<parcel> parcels;
    steady_time deadline = steady_time::max();  ///< What is not sent by then is not sent any more.
    /// One result for each parcel, or none at all: then all are stored. On the outlet's thread, or the caller's.
    spi::callback<void(std::vector<spi::publish_result>)> done;
};

/// The connection over which is published: a channel in confirm mode, on which up to `config::max_unconfirmed` messages
/// are under way at a time.
/// @par Thread safety  Safe.
class outlet final : link_user {
public:
    explicit outlet(std::shared_ptr<const rabbitmq::config> settings);
    ~outlet() override;

    void post(shipment what);
    /// No more shipments. What waits or is under way gets its answer before the connection ends, or by `until`.
    void shut();
    bool wait_stopped(steady_time until) { return link_.wait_stopped(until); }
    /// As `link::finish`.
    void finish() noexcept { link_.finish(); }

private:
    /// A shipment on its way. Owned by the outlet until the last of its parcels has its fate.
    struct under_way {
        shipment what;
        std::size_t sent = 0;
        std::size_t open = 0;                      ///< Parcels without a fate.
        std::vector<spi::publish_result> results;  ///< Empty: all stored so far.
    };
    /// A parcel that was sent and not confirmed yet.
    struct awaited {
        std::shared_ptr<under_way> of;
        std::size_t index = 0;
        bool settled = false;
        bool returned = false;
    };

    void connected(connection& on) override;
    void frame(connection& on, amqp_frame_t& what) override;
    void work(connection& on) override;
    std::optional<steady_time> due() const override;
    void lost(const error& why) override;
    void waiting(const error& why) override;
    void blocked(const std::string& reason) override;

    void take_new();
    void send_some(connection& on);
    bool room_for(const parcel& next) const noexcept;
    /// False: it was refused, and has its fate.
    bool send(connection& on, const std::shared_ptr<under_way>& of, std::size_t index);
    void confirm(std::uint64_t tag, bool multiple, bool positive);
    void settle(awaited& what, spi::publish_status status, const error& cause);
    void give_fate(under_way& of, std::size_t index, spi::publish_status status, const error& cause);
    void begin_return(const amqp_basic_return_t& told);
    void mark_returned(const amqp_basic_properties_t& properties);
    /// Gives up on what was not sent by its deadline, or on all.
    void expire(const error& why, bool all);
    void channel_lost(const error& why);
    error late_error() const;

    const std::shared_ptr<const rabbitmq::config> settings_;
    mutable std::mutex mutex_;
    std::deque<std::shared_ptr<under_way>> arrived_;  ///< Guarded by `mutex_`.
    bool started_ = false;                            ///< Guarded by `mutex_`.
    bool shut_ = false;                               ///< Guarded by `mutex_`.
    // The thread's own:
    std::deque<std::shared_ptr<under_way>> queue_;  ///< Not sent, or not all of it.
    std::deque<awaited> unconfirmed_;               ///< By delivery tag, from `first_tag_` on.
    std::uint64_t first_tag_ = 1;
    std::size_t unconfirmed_bytes_ = 0;
    amqp_channel_t channel_ = 0;
    std::string blocked_;            ///< Why the server takes none now; empty: it does.
    std::string returned_why_;       ///< Of the message being returned.
    std::size_t returned_left_ = 0;  ///< Bytes of its body still to come.
    properties_writer writer_;
    std::vector<header> notes_;
    link link_;
};

}  // namespace shove::rabbitmq_backend
