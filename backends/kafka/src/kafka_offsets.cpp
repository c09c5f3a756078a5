#include <shove/kafka_offsets.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "check_config.hpp"
#include "cluster.hpp"
#include "commit_note.hpp"
#include "names.hpp"

namespace shove {

namespace {

using namespace kafka_backend;

/// Asks about one group with a client of its own.
class group_view {
public:
    static result<group_view> make(const kafka::config& settings, const topology& of) {
        if (auto cause = check_config(settings)) return cause;
        const auto known = queue_topology::make(of);
        if (!known) return known.error();
        if ((*known)->broadcast)
            return error(errc::invalid_topology, "queue '" + (*known)->queue +
                                                     "' is a broadcast: its subscribers have no group, and no offsets");
        group_view made;
        const names called(settings);
        made.topic_ = called.topic_of((*known)->queue);
        made.group_ = called.group_of(**known);
        made.patience_ = static_cast<int>(settings.connect_timeout.count());
        auto client = handle::make(std::make_shared<const kafka::config>(settings), role::asking, {}, made.on_);
        if (!client) return client.error();
        made.client_ = std::move(*client);
        const auto count = made.asking().partitions(made.topic_);
        if (!count) return count.error();
        if (*count == 0)
            return error(errc::unknown_queue,
                         "topic '" + made.topic_ + "' is not on this Kafka cluster; declare it first");
        made.count_ = *count;
        return made;
    }

    result<std::vector<kafka_offset>> offsets() const {
        const auto committed = asking().committed(group_, topic_, count_);
        if (!committed) return committed.error();
        const auto spans = asking().spans(topic_, count_);
        if (!spans) return spans.error();
        std::vector<kafka_offset> made;
        for (partition i = 0; i < count_; ++i) {
            const auto& span = (*spans)[static_cast<std::size_t>(i)];
            auto& each = made.emplace_back();
            each.partition = i;
            each.low = span.low;
            each.high = span.high;
            auto open = span.high - span.low;
            if (const auto at = committed->find(i); at != committed->end()) {
                each.committed = at->second.offset;
                open = span.high - std::max(at->second.offset, span.low);
                const auto note = commit_note::read(at->second.metadata, at->second.offset);
                for (const auto& run : note ? note->settled : std::vector<offset_run>())
                    open -= run.count;
            }
            each.lag = static_cast<std::uint64_t>(std::max<std::int64_t>(0, open));
        }
        return made;
    }

    result<std::vector<kafka_offset>> put(const kafka_position& where) const {
        const auto members = asking().members(group_);
        if (!members) return members.error();
        if (*members > 0)
            return error(errc::storage_busy, "group '" + group_ + "' has " + std::to_string(*members) +
                                                 " members, which commit by themselves; stop its consumers first");
        const auto targets = targets_of(where);
        if (!targets) return targets.error();
        std::map<partition, committed_offset> wanted;
        for (partition i = 0; i < count_; ++i)
            wanted[i].offset = (*targets)[static_cast<std::size_t>(i)];
        if (auto cause = asking().commit(group_, topic_, wanted)) return cause;
        return offsets();
    }

private:
    cluster asking() const { return {client_->get(), patience_}; }

    result<std::vector<std::int64_t>> targets_of(const kafka_position& where) const {
        if (where.to == kafka_position::kind::time) return asking().offsets_since(topic_, count_, where.when);
        const auto spans = asking().spans(topic_, count_);
        if (!spans) return spans.error();
        std::vector<std::int64_t> made;
        made.reserve(spans->size());
        for (const auto& span : *spans) {
            switch (where.to) {
                case kafka_position::kind::head:
                    made.push_back(span.low);
                    break;
                case kafka_position::kind::offset:
                    made.push_back(std::clamp(where.offset, span.low, span.high));
                    break;
                default:
                    made.push_back(span.high);
            }
        }
        return made;
    }

    std::shared_ptr<loop> on_ = std::make_shared<loop>();
    std::shared_ptr<handle> client_;  // ends before the loop does
    std::string topic_;
    std::string group_;
    int patience_ = 0;
    int count_ = 0;
};

}  // namespace

result<std::vector<kafka_offset>> kafka_offsets(const kafka::config& settings, const topology& of) {
    const auto view = group_view::make(settings, of);
    return view ? view->offsets() : view.error();
}

result<std::vector<kafka_offset>> reset_kafka_offsets(const kafka::config& settings, const topology& of,
                                                      const kafka_position& where) {
    const auto view = group_view::make(settings, of);
    return view ? view->put(where) : view.error();
}

}  // namespace shove
