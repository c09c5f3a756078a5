#include "doubts.hpp"

#include <algorithm>
#include <utility>

namespace shove::rabbitmq_backend {

void doubts::add(spi::delivery item, steady_time now, steady_time until) {
    items_.push_back({std::move(item), now < in_vain_ ? now : until});
}

bool doubts::begin(steady_time now) {
    if (due() > now) return false;
    reading_ = true;
    began_ = now;
    for (auto& one : items_)
        one.asked = true;
    return true;
}

steady_time doubts::due() const noexcept {
    if (reading_ || items_.empty()) return steady_time::max();
    return items_.back().asked ? next_ : steady_time{};
}

void doubts::done(steady_time now) {
    reading_ = false;
    next_ = now + look_again;
}

doubts::verdicts doubts::judge(const std::optional<findings>& found) {
    verdicts made;
    std::vector<doubt> left;
    for (auto& one : items_) {
        switch (one.asked ? of(one, found) : verdict::none) {
            case verdict::none:
                left.push_back(std::move(one));
                break;
            case verdict::innocent:
                made.innocent.push_back(std::move(one.item));
                break;
            case verdict::suspect:
                made.suspect.push_back(std::move(one.item));
                break;
        }
    }
    items_ = std::move(left);
    return made;
}

doubts::verdict doubts::of(doubt& one, const std::optional<findings>& found) {
    finding known;
    if (found) {
        const auto at = found->find(record_id(one.item.msg));
        if (at != found->end()) known = at->second;
    }
    const auto before = one.item.past ? one.item.past->crashes : 0U;
    const auto suspected = [&](std::uint32_t crashes) {
        if (!one.item.past) one.item.past = std::make_unique<spi::history>();
        one.item.past->crashes = crashes;
        return verdict::suspect;
    };
    if (known.crashes > 0) return suspected(std::max(before, known.crashes));
    if (known.given_back) return before > 0 ? suspected(before) : verdict::innocent;
    const bool no_patience = found || began_ < in_vain_;
    const auto until = no_patience ? one.until : one.until + patience;
    if (began_ >= until) in_vain_ = began_ + grace;
    if (known.missed || began_ >= until) {
        if (before == 0 && ++unnoted_ > most_) return verdict::innocent;
        return suspected(std::max(before, 1U));
    }
    one.missed = one.missed || found;
    return verdict::none;
}

std::vector<spi::delivery> doubts::take_all() {
    std::vector<spi::delivery> all;
    all.reserve(items_.size());
    for (auto& one : items_)
        all.push_back(std::move(one.item));
    items_.clear();
    return all;
}

std::vector<std::string> doubts::missed() const {
    std::vector<std::string> ids;
    for (const auto& one : items_) {
        if (one.missed) ids.push_back(record_id(one.item.msg));
    }
    return ids;
}

void doubts::clear() {
    items_.clear();
    reading_ = false;
    next_ = {};
    in_vain_ = {};
    unnoted_ = 0;
}

}  // namespace shove::rabbitmq_backend
