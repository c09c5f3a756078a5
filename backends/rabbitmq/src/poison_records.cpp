#include "poison_records.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "layout.hpp"
#include "peek.hpp"
#include "shard_record.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr auto all_of_it = std::numeric_limits<std::size_t>::max();
constexpr std::chrono::seconds owner_patience{2};

}  // namespace

void poisoned_keys(ask_channel& over, const std::string& shard, std::vector<spi::poisoned_key>& to) {
    std::map<std::string, wall_time> keys;
    peek look(over, poison_queue(shard));
    look.read(all_of_it, [&](const glimpse& each) {
        const auto record = read_record(each.properties, each.body);
        if (record && record->what == shard_record::kind::poisoned) keys.emplace(record->key, record->since);
    });
    look.give_back();
    for (const auto& [key, since] : keys)
        to.push_back({shard, key, since});
}

std::size_t strike_key(ask_channel& over, const std::string& shard, const std::string& key) {
    std::size_t count = 0;
    peek look(over, poison_queue(shard));
    look.read(all_of_it, [&](const glimpse& each) {
        const auto record = read_record(each.properties, each.body);
        if (!record || record->what != shard_record::kind::poisoned || record->key != key) return;
        count = 1;
        look.drop(each.tag);
    });
    look.give_back();
    return count;
}

parcel release_record(const std::string& shard, const std::string& key) {
    shard_record record;
    record.what = shard_record::kind::released;
    record.key = key;
    record.since = std::chrono::time_point_cast<wall_time::duration>(std::chrono::system_clock::now());
    return written(record, std::make_shared<const route>(route{.exchange = {}, .routing_key = state_queue(shard)}));
}

void await_owner(ask_channel& over, const std::string& shard) {
    const auto end = std::chrono::steady_clock::now() + owner_patience;
    while (std::chrono::steady_clock::now() < end) {
        const auto told = count(over, state_queue(shard));
        if (!told || told->ready == 0 || told->consumers == 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace shove::rabbitmq_backend
