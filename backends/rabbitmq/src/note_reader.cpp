#include "note_reader.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace shove::rabbitmq_backend {
namespace {

using kind = shard_record::kind;

}  // namespace

void note_reader::note(std::uint64_t tag, const shard_record& record, std::span<const std::byte> body) {
    seen made{tag, {}};
    switch (record.what) {
        case kind::wait:
        case kind::suspect:
            made.ids.push_back(record.id.substr(0, longest_listed));
            break;
        case kind::taken:
        case kind::missed:
        case kind::released:
            made.ids = listed_in(body);
            break;
        default:
            return;
    }
    for (const auto& id : made.ids)
        tell(tag, record, all_[id]);
    notes_.push_back(std::move(made));
}

void note_reader::tell(std::uint64_t tag, const shard_record& record, about& of) const {
    const auto crashes = record.past ? record.past->crashes : 0;
    switch (record.what) {
        case kind::wait:
            of = {{.crashes = record.alone ? crashes + 1 : 0}, tag, 0};
            return;
        case kind::suspect:
            of = {{.crashes = crashes}, tag, 0};
            return;
        case kind::taken:
            if (of.now.crashes == 0) of = {{}, tag, 0};
            return;
        case kind::released:
            if (of.now.crashes > 0) return;  // written late: somebody has begun with it since
            of.now = {.given_back = true};
            of.top = tag;
            return;
        case kind::missed:
            if (of.now.crashes > 0 || of.now.given_back) return;
            of.now = {.missed = true};
            of.top = tag;
            return;
        default:
            return;
    }
}

findings note_reader::found() const {
    findings made;
    made.reserve(all_.size());
    for (const auto& [id, known] : all_)
        made.emplace(id, known.now);
    return made;
}

std::vector<std::uint64_t> note_reader::needless() const {
    std::vector<std::uint64_t> tags;
    std::unordered_set<std::string_view> kept;  // ids of notes that stay
    for (const auto& each : notes_) {
        const auto needs = [&](const std::string& id) {
            const auto& known = all_.at(id);
            if (known.top == each.tag) return true;
            // That nothing is known any more needs to be said only where an earlier note would count again.
            return known.base == each.tag && (known.now.crashes > 0 || kept.contains(id));
        };
        if (std::ranges::any_of(each.ids, needs)) {
            kept.insert(each.ids.begin(), each.ids.end());
        } else {
            tags.push_back(each.tag);
        }
    }
    return tags;
}

}  // namespace shove::rabbitmq_backend
