#include "removal.hpp"

#include <algorithm>
#include <utility>

#include "commit_note.hpp"

namespace shove::kafka_backend {

namespace {

/// Runs in order, those that touch joined.
std::vector<offset_run> joined(std::vector<offset_run> runs) {
    std::ranges::sort(runs, {}, &offset_run::first);
    std::vector<offset_run> made;
    for (const auto& each : runs) {
        if (!made.empty() && each.first <= made.back().end()) {
            made.back().count = std::max(made.back().end(), each.end()) - made.back().first;
        } else {
            made.push_back(each);
        }
    }
    return made;
}

/// The commit that settles these too; nothing: its note has no room.
std::optional<committed_offset> with(commit_note note, std::int64_t first, const std::vector<std::int64_t>& offsets) {
    for (const auto offset : offsets)
        note.settled.push_back({offset, 1});
    note.settled = joined(std::move(note.settled));
    if (!note.settled.empty() && note.settled.front().first <= first) {
        first = std::max(first, note.settled.front().end());
        note.settled.erase(note.settled.begin());
    }
    std::erase_if(note.kept, [&](const auto& each) { return each.first < first; });
    auto text = note.write(first);
    const auto back = text ? commit_note::read(*text, first) : std::nullopt;
    if (!back || back->settled != note.settled) return std::nullopt;
    return committed_offset{first, std::move(*text)};
}

}  // namespace

removal settle_away(const std::optional<committed_offset>& last, std::int64_t low,
                    const std::set<std::int64_t>& offsets) {
    const open_records open(last, low);
    auto note = last ? commit_note::read(last->metadata, last->offset) : std::nullopt;
    if (!note) {
        note.emplace();
        note->clean = true;
        note->reach = open.first();
    }
    removal made;
    for (const auto offset : offsets) {
        if (open(offset)) made.offsets.push_back(offset);
    }
    for (;; made.offsets.resize(made.offsets.size() / 2)) {
        auto commit = with(*note, open.first(), made.offsets);
        if (!commit && !made.offsets.empty()) continue;
        made.commit = commit ? std::move(*commit) : last.value_or(committed_offset{open.first(), {}});
        return made;
    }
}

open_records::open_records(const std::optional<committed_offset>& last, std::int64_t low)
    : first_(last ? std::max(last->offset, low) : low) {
    if (!last) return;
    if (auto note = commit_note::read(last->metadata, last->offset)) settled_ = std::move(note->settled);
}

bool open_records::operator()(std::int64_t offset) const noexcept {
    return offset >= first_ && std::ranges::none_of(settled_, [&](const offset_run& each) {
               return offset >= each.first && offset < each.end();
           });
}

}  // namespace shove::kafka_backend
