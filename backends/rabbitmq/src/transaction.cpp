#include "transaction.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shove::rabbitmq_backend {
namespace {

std::span<const parcel> copies_of(const departure& part) {
    return part.of ? part.of->copies(part.index) : std::span<const parcel>();
}

}  // namespace

std::vector<std::string_view> transaction::targets() const {
    std::vector<std::string_view> names;
    for (const auto& part : parts_) {
        for (const auto& copy : copies_of(part)) {
            if (std::ranges::find(names, copy.to->routing_key) == names.end()) names.emplace_back(copy.to->routing_key);
        }
    }
    return names;
}

bool transaction::misses_a_queue(const departure& part) const {
    return std::ranges::any_of(copies_of(part), [this](const parcel& copy) {
        return std::ranges::find(missing_, copy.to->routing_key) != missing_.end();
    });
}

transaction::result transaction::committed() {
    result made;
    made.done = std::exchange(parts_, {});
    if (!missing_.empty()) {
        const auto rest =
            std::ranges::stable_partition(made.done, [this](const auto& part) { return !misses_a_queue(part); });
        made.uncertain.assign(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
        made.done.erase(rest.begin(), rest.end());
        missing_.clear();
    }
    return made;
}

std::vector<departure> transaction::lost() {
    missing_.clear();
    return std::exchange(parts_, {});
}

}  // namespace shove::rabbitmq_backend
