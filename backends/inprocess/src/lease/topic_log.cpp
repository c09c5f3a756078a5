#include "topic_log.hpp"

#include <algorithm>
#include <utility>

namespace shove::inprocess_backend::lease {

const topic_log::kept* topic_log::at(sequence number) const {
    if (number < first_ || number >= next()) return nullptr;
    const auto& found = log_[number - first_];
    return found.envelope ? &found : nullptr;
}

const topic_log::kept* topic_log::by_key(const std::string& key) const {
    const auto found = keys_.find(hash_of(key), [&](sequence number) { return log_[number - first_].key == key; });
    return found == 0 ? nullptr : at(found);
}

void topic_log::append(std::shared_ptr<const lease_envelope> envelope, std::string key,
                       const spi::fingerprint& content) {
    keys_.insert(hash_of(key), next());
    log_.push_back({std::move(envelope), std::move(key), content});
}

std::shared_ptr<const lease_envelope> topic_log::find(sequence number) const {
    const auto* found = at(number);
    return found ? found->envelope : nullptr;
}

sequence topic_log::following(sequence number) const {
    for (auto each = std::max(number + 1, first_); each < next(); ++each) {
        if (log_[each - first_].envelope) return each;
    }
    return next();
}

std::size_t topic_log::remove(sequence number) {
    auto& gone = log_[number - first_];
    const auto bytes = gone.envelope->payload.size();
    keys_.erase(hash_of(gone.key), number);
    gone = {};
    while (!log_.empty() && !log_.front().envelope) {
        log_.pop_front();
        ++first_;
    }
    return bytes;
}

}  // namespace shove::inprocess_backend::lease
