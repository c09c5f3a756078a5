#pragma once

#include <shove/spi/driver.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "desk.hpp"
#include "log_reader.hpp"
#include "names.hpp"
#include "outlet.hpp"

namespace shove::kafka_backend {

/// Where a queue lies, and who reads it.
struct queue_place {
    std::string topic;
    std::string group;
    std::int32_t shard = -1;  ///< Of so many shards: it is those partitions whose number leaves this rest.
    std::uint16_t shards = 0;
    bool dead = false;  ///< It holds dead letters.

    bool has(partition which) const noexcept { return shard < 0 || which % shards == shard; }
};

/// Lists, browses, moves and removes. What is removed is settled in the name of the queue's group, so it needs that
/// group to have no members; the records stay in the log until the broker's retention ends.
/// @par Thread safety  Safe.
class admin final : public spi::admin {
public:
    struct parts {
        std::shared_ptr<const kafka::config> settings;
        std::shared_ptr<loop> on;
        std::shared_ptr<kafka_backend::desk> desk;
        std::shared_ptr<outlet> publishing;
        std::function<result<queue_place>(const std::string&)> place_of;    ///< Of a queue. May block.
        std::function<result<spi::queue_depth>(const std::string&)> count;  ///< May block.
        std::function<std::string(const std::string&)> dead_letters_of;     ///< Of a queue; empty: none known.
    };
    explicit admin(parts with);

    void list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) override;
    void browse(std::string queue, std::uint64_t after, std::size_t max,
                spi::callback<void(result<std::vector<spi::browsed>>)> done) override;
    void move(std::string from, std::string to, std::vector<spi::moved> items,
              spi::callback<void(result<std::size_t>)> done) override;
    void remove(std::string queue, std::vector<std::uint64_t> cursors,
                spi::callback<void(result<std::size_t>)> done) override;
    void list_keys(std::vector<std::string> queues,
                   spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) override;
    /// Which of a topic's shards is given makes no difference: its poisoned keys are kept in one place.
    void release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) override;
    /// Ends its client. Nothing runs any more.
    void finish() { reader_.finish(); }

private:
    template <class T, class Run>
    void answer(Run run, spi::callback<void(result<T>)> done);
    result<std::vector<spi::queue_info>> list();
    result<std::vector<spi::browsed>> look(const std::string& queue, std::uint64_t after, std::size_t max);
    result<std::size_t> take(const std::string& queue, const std::vector<std::uint64_t>& cursors,
                             const std::function<error(const std::set<std::uint64_t>&)>& before);
    /// The poisoned keys of a topic and since when, by the name of its reader's place.
    result<std::map<std::string, wall_time>> keys_of(const std::string& place);
    result<std::vector<spi::poisoned_key>> keys_in(const std::vector<std::string>& queues);
    result<std::size_t> release(const std::string& place, const std::string& key);
    /// Publishes, and waits until all is stored.
    error send(std::vector<parcel> parcels);
    error store(const std::string& queue, const std::vector<spi::moved>& items, const std::set<std::uint64_t>& which);

    const parts with_;
    const names names_;
    log_reader reader_;  ///< The desk's thread only.
};

template <class T, class Run>
void admin::answer(Run run, spi::callback<void(result<T>)> done) {
    auto kept = std::make_shared<decltype(done)>(std::move(done));
    with_.desk->run([kept, run = std::move(run)]() mutable { (*kept)(run()); },
                    [kept](const error& why) { (*kept)(why); });
}

}  // namespace shove::kafka_backend
