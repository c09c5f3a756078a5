#include <shove/testkit/leak_watch.hpp>

#include <shove/metrics.hpp>

#include <algorithm>
#include <cstring>

namespace shove::testkit {
namespace {

std::uint32_t start_of(std::string_view text) noexcept {
    std::uint32_t start = 0;
    static_assert(sizeof start == leak_watch::shortest);
    std::memcpy(&start, text.data(), sizeof start);
    return start;
}

bool is_lower(char c) noexcept {
    return c >= 'a' && c <= 'z';
}

bool is_letter(char c) noexcept {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

/// Tells a watch the values of labels.
class label_reader final : public metric_reader {
public:
    explicit label_reader(leak_watch& to) noexcept : to_(to) {}
    void number(const metric_info& info, std::span<const std::string_view> labels, double) override {
        tell(info, labels);
    }
    void histogram(const metric_info& info, std::span<const std::string_view> labels, std::span<const std::uint64_t>,
                   double) override {
        tell(info, labels);
    }

private:
    void tell(const metric_info& info, std::span<const std::string_view> labels) {
        for (const auto label : labels)
            to_.told("a label of the metric '" + std::string(info.name) + "'", label);
    }

    leak_watch& to_;
};

}  // namespace

bool unmistakable(std::string_view text) noexcept {
    return text.size() >= 6 && std::ranges::any_of(text, is_letter) && !std::ranges::all_of(text, is_lower);
}

void leak_watch::keep(std::string_view secret) {
    if (secret.size() < shortest) return;
    const std::lock_guard lock(mutex_);
    if (secret.size() <= 2 * longest_part) return keep_part(secret);
    keep_part(secret.substr(0, longest_part));
    keep_part(secret.substr(secret.size() - longest_part));
}

/// With the lock held.
void leak_watch::keep_part(std::string_view part) {
    if (count_ == most_parts) return;
    if (parts_[start_of(part)].emplace(part).second) ++count_;
}

void leak_watch::keep_message(std::span<const std::byte> body, headers_view headers) {
    const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
    if (unmistakable(text)) keep(text);
    for (const auto& each : headers) {
        if (unmistakable(each.value.bytes())) keep(each.value.bytes());
    }
}

void leak_watch::told(std::string_view place, std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (std::size_t at = 0; at + shortest <= text.size(); ++at) {
        const auto rest = text.substr(at);
        const auto like = parts_.find(start_of(rest));
        if (like == parts_.end()) continue;
        for (const auto& part : like->second) {
            if (!rest.starts_with(part)) continue;
            if (leaks_.size() < most_leaks) {
                leaks_.push_back(std::string(place) + " tells '" + part + "': " + std::string(text));
            }
            return;
        }
    }
}

void leak_watch::told(const event& what) {
    const auto name = "the event '" + std::string(what.info.name) + "'";
    told(name, what.text);
    for (const auto& field : what.fields) {
        if (field.name != "message_id") told("the field '" + std::string(field.name) + "' of " + name, field.text);
    }
}

void leak_watch::told(std::string_view place, const error& what) {
    if (what) told(place, what.message());
}

void leak_watch::told_by(std::shared_ptr<const metrics> what) {
    const std::lock_guard lock(mutex_);
    metrics_.insert(std::move(what));
}

std::vector<std::string> leak_watch::leaks() {
    std::unique_lock lock(mutex_);
    const auto measured = metrics_;
    lock.unlock();
    label_reader reader(*this);
    for (const auto& each : measured)
        each->read(reader);
    lock.lock();
    return leaks_;
}

}  // namespace shove::testkit
