#include "batcher.hpp"

#include <iterator>

namespace shove::decide {

void batcher::add(spi::delivery item, steady_time now) {
    bytes_ += item.msg.payload().size();
    waiting_.push_back({std::move(item), now});
}

std::optional<steady_time> batcher::next_due() const {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.front().since + limits_.max_age;
}

std::vector<spi::delivery> batcher::take_rest() {
    std::deque<waiting> all;
    all.swap(waiting_);
    std::size_t bytes = 0;
    std::vector<spi::delivery> rest;
    for (auto& w : all) {
        const auto size = w.item.msg.payload().size();
        const bool fits = rest.empty() && waiting_.size() < limits_.max_messages &&
                          (waiting_.empty() || bytes + size <= limits_.max_bytes);
        if (fits) {
            bytes += size;
            waiting_.push_back(std::move(w));
        } else {
            rest.push_back(std::move(w.item));
        }
    }
    bytes_ = bytes;
    return rest;
}

}  // namespace shove::decide
