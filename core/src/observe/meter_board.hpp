#pragma once

#include <shove/metrics.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meters.hpp"

namespace shove::detail {

/// All meters of the brokers that share a `metrics`. Handing them out takes a lock, counting does not.
class meter_board : public std::enable_shared_from_this<meter_board> {
public:
    explicit meter_board(metrics_options options) noexcept : options_(options) {}

    /// Meters of one new consumer; their counts stay when it goes, its gauges do not.
    std::shared_ptr<consumer_meters> consumer(std::string_view topic, std::string_view group);
    std::shared_ptr<publish_meters> publisher(std::string_view topic);
    std::shared_ptr<scaling_meters> scaling(std::string_view queue);
    std::shared_ptr<depth_meters> depth(std::string_view topic);
    std::shared_ptr<broker_meters> broker(std::string_view backend);
    void read(metric_reader& reader) const;

private:
    struct consumers {
        consumer_meters gone;  ///< Of those that ended.
        std::vector<const consumer_meters*> live;
    };
    using name_pair = std::pair<std::string, std::string>;
    template <class T>
    using by_name = std::map<std::string, std::shared_ptr<T>, std::less<>>;

    void retire(const name_pair& whose, const consumer_meters* ended);
    std::string bounded(std::string_view topic);
    template <class T>
    std::shared_ptr<T> find(by_name<T>& in, std::string_view name);

    const metrics_options options_;
    mutable std::mutex mutex_;
    std::map<name_pair, consumers> consumers_;
    by_name<publish_meters> publishers_;
    by_name<scaling_meters> scalings_;
    by_name<depth_meters> depths_;
    by_name<broker_meters> brokers_;
    std::set<std::string, std::less<>> topics_;
};

}  // namespace shove::detail
