#pragma once

#include <shove/spi/driver.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "handle.hpp"
#include "loop.hpp"
#include "owned.hpp"

namespace shove::kafka_backend {

/// One message to be published.
struct parcel {
    message msg;
    std::shared_ptr<const std::string> topic;
    std::optional<std::int32_t> partition{};  ///< Nothing: the partitioner's choice.
    const spi::history* past = nullptr;       ///< Lives until `shipment::done`.
    wall_time due{};                          ///< Of a copy that waits.
    bool tombstone = false;                   ///< In place of an empty payload: what has its key is forgotten.
};

/// Messages to be published, in order, and who wants to know what became of them.
struct shipment {
    std::vector<parcel> parcels;
    steady_time deadline = steady_time::max();  ///< What is not handed to the client by then is not sent.
    /// One result for each parcel, or none at all: then all are stored. Called from any thread, with no lock held.
    spi::callback<void(std::vector<spi::publish_result>)> done;
};

/// Publishes through one producer client, which is made for the first message.
/// @par Thread safety  Safe.
class outlet final : public std::enable_shared_from_this<outlet> {
public:
    /// Makes the client. Blocks for milliseconds; runs on the loop.
    using make_client = std::function<result<std::shared_ptr<handle>>()>;

    /// @param on  Where deliveries are heard of.
    outlet(std::shared_ptr<loop> on, make_client make);
    ~outlet();

    void post(shipment what);
    /// No more shipments; what is under way goes on.
    void shut();
    /// Waits until all that was posted has its fate. Blocks. False: `until` came first; the rest is given up.
    bool flush(steady_time until);
    /// Gives up what is left, and ends the client. Blocks.
    void finish();

private:
    struct under_way;
    struct slot;
    void open();
    /// With the lock held: hands over what the client takes. Gives shipments that ended by that.
    void send_some(std::vector<std::shared_ptr<under_way>>& ended);
    rd_kafka_resp_err_t send(parcel& what, slot& of);
    rd_kafka_topic_t* topic(const std::string& name);
    void hear();
    void expire();
    void watch_deadlines();
    static void give_fate(const std::shared_ptr<under_way>& of, std::size_t index, spi::publish_status status,
                          const error& cause, std::vector<std::shared_ptr<under_way>>& ended);
    static void tell(std::vector<std::shared_ptr<under_way>>& ended);
    void fail_queued(const error& why);

    const std::shared_ptr<loop> loop_;
    const make_client make_;
    std::mutex mutex_;  ///< Guards all below.
    std::shared_ptr<handle> client_;
    std::map<std::string, owned_topic> topics_;
    owned_queue reports_;
    std::shared_ptr<loop::bell> bell_;
    std::deque<std::shared_ptr<under_way>> queue_;  ///< Not handed over, or not all of it.
    std::size_t unanswered_ = 0;                    ///< Handed over, without a fate.
    bool opening_ = false;
    bool shut_ = false;
    bool watching_ = false;
};

}  // namespace shove::kafka_backend
