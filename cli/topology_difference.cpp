#include "topology_difference.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "topology_settings.hpp"

namespace shove::cli {
namespace {

using kind = difference::kind;
using rows = std::vector<spi::queue_info>;

const spi::queue_info* find(const rows& there, const std::string& name) {
    const auto at = std::ranges::find(there, name, &spi::queue_info::name);
    return at == there.end() ? nullptr : &*at;
}

std::string quoted(const std::string& name) {
    return "'" + name + "'";
}

/// What a difference says of where dead letters are kept.
std::string place_text(const std::string& dead_letter_queue) {
    return dead_letter_queue.empty() ? "nowhere" : "in " + quoted(dead_letter_queue);
}

/// Compares one topic.
class topic_comparison {
public:
    topic_comparison(const queue_topology& topic, const rows& there, bool hold_queues)
        : topic_(topic), there_(there), hold_queues_(hold_queues) {}

    std::vector<difference> run() {
        if (topic_.sequencing ? !shards_agree() : !is_plain()) return std::move(found_);
        for (const auto& each : topic_.targets())
            must_exist(each);
        for (const auto& each : topic_.places())
            must_exist(each);
        if (hold_queues_ && !topic_.sequencing) {
            for (const auto& each : topic_.holds)
                must_exist(each.queue);
        }
        compare_dead_letters();
        return std::move(found_);
    }

private:
    void add(kind what, const std::string& name, const std::string& declared, const std::string& found,
             const std::string& text, const std::string& remedy) {
        const bool known = std::ranges::any_of(
            found_, [&](const auto& each) { return each.what == what && each.name == name && each.found == found; });
        if (!known) found_.push_back({what, topic_.queue, name, declared, found, text, remedy});
    }

    void must_exist(const std::string& name) {
        if (find(there_, name)) return;
        add(kind::missing_queue, name, name, "", "queue " + quoted(name) + " is not there",
            "`shove topology apply` makes it");
    }

    /// The numbers of the shards that are there.
    std::set<std::uint16_t> shards_there() const {
        std::set<std::uint16_t> numbers;
        for (const auto& each : there_) {
            if (!is_shard_of(each.name, topic_.reader_queue)) continue;
            const auto* last = each.name.data() + each.name.size();
            std::uint16_t number = 0;
            const auto [end, problem] =
                std::from_chars(each.name.data() + topic_.reader_queue.size() + 5, last, number);
            if (problem == std::errc() && end == last) numbers.insert(number);
        }
        return numbers;
    }

    bool is_plain() {
        const auto shards = shards_there();
        if (shards.empty() || find(there_, topic_.reader_queue)) return true;
        const auto count = std::to_string(shards.size());
        add(kind::other_order, topic_.queue, "plain", "sequenced",
            quoted(topic_.queue) + " is a sequenced topic with " + count + " shards, and declared without order",
            "declare it sequenced, with " + count + " shards, or choose another name");
        return false;
    }

    /// Whether the number of shards is as declared, or none is there; single ones may be missing.
    bool shards_agree() {
        const auto shards = shards_there();
        if (shards.empty() && find(there_, topic_.reader_queue)) {
            add(kind::other_order, topic_.queue, "sequenced", "plain",
                "queue " + quoted(topic_.queue) + " is there and not sequenced, and declared sequenced",
                "declare it without order, or choose another name");
            return false;
        }
        if (shards.empty()) return true;
        const auto count = std::uint32_t{*shards.rbegin()} + 1;
        const std::uint32_t wanted = topic_.sequencing->shards();
        if (count == wanted) return true;
        const auto one = quoted(topic_.reader_queue + "-seq-" + std::to_string(std::min(count, wanted)));
        add(kind::other_shards, topic_.queue, std::to_string(wanted), std::to_string(count),
            quoted(topic_.queue) + " has " + std::to_string(count) + " shards, and " + std::to_string(wanted) +
                " are declared: from " + one + " on they are " + (count > wanted ? "beyond" : "missing"),
            "declare " + std::to_string(count) +
                " shards, or drain it first (stop its publishers, let all be handled, stop its consumers): then "
                "`shove topology apply` changes it" +
                (count > wanted ? ", where the backend can take a shard away" : "") +
                "; else keys would change their shard, and lose their order");
        return false;
    }

    void compare_dead_letters() {
        const auto& wanted = topic_.dead_letter_queue;
        for (const auto& place : topic_.places()) {
            const auto* row = find(there_, place);
            if (!row || row->dead_letter_queue == wanted) continue;
            if (row->dead_letter_queue.empty()) {
                add(kind::missing_dead_letter_queue, wanted, wanted, "",
                    quoted(topic_.queue) + " keeps no dead letters, and " + quoted(wanted) + " is declared for them",
                    "`shove topology apply` makes it");
            } else {
                other_place(row->dead_letter_queue);
            }
        }
        const bool elsewhere =
            std::ranges::any_of(found_, [](const auto& each) { return each.what == kind::other_dead_letter_queue; });
        if (wanted.empty() || elsewhere || find(there_, wanted)) return;
        add(kind::missing_dead_letter_queue, wanted, wanted, "",
            "the dead-letter queue " + quoted(wanted) + " of " + quoted(topic_.queue) + " is not there",
            "`shove topology apply` makes it");
    }

    void other_place(const std::string& there) {
        const auto& wanted = topic_.dead_letter_queue;
        auto remedy = "declare " + quoted(there);
        if (wanted.empty()) {
            remedy += "; who consumes it without a dead-letter queue discards what dies";
        } else {
            remedy += ", or look after its letters first (`shove dlq list " + topic_.queue + " --dead-queue " + there +
                      "`): from the first program on that declares " + quoted(wanted) + ", letters go there";
        }
        add(kind::other_dead_letter_queue, topic_.queue, wanted, there,
            quoted(topic_.queue) + " keeps its dead letters " + place_text(there) + ", and declared is " +
                place_text(wanted),
            remedy);
    }

    const queue_topology& topic_;
    const rows& there_;
    const bool hold_queues_;
    std::vector<difference> found_;
};

/// All names that belong to a topic.
void collect_names(const queue_topology& topic, std::set<std::string>& into) {
    for (const auto& each : topic.targets())
        into.insert(each);
    for (const auto& each : topic.places())
        into.insert(each);
    for (const auto& each : topic.holds)
        into.insert(each.queue);
    into.insert(topic.dead_letter_queue);
}

}  // namespace

std::string_view word_for(kind what) noexcept {
    switch (what) {
        case kind::missing_queue:
            return "missing_queue";
        case kind::missing_dead_letter_queue:
            return "missing_dead_letter_queue";
        case kind::other_dead_letter_queue:
            return "other_dead_letter_queue";
        case kind::other_shards:
            return "other_shards";
        case kind::other_order:
            break;
    }
    return "other_order";
}

std::vector<difference> compare(const declared_topologies& declared, const rows& there, bool hold_queues) {
    std::vector<difference> all;
    for (const auto& each : declared)
        std::ranges::move(topic_comparison(*each, there, hold_queues).run(), std::back_inserter(all));
    return all;
}

std::vector<std::string> leftovers(const declared_topologies& declared, const rows& there,
                                   const std::vector<difference>& differences) {
    std::set<std::string> known;
    for (const auto& each : declared)
        collect_names(*each, known);
    for (const auto& each : differences)
        known.insert(each.found);
    std::vector<std::string> left;
    for (const auto& row : there) {
        const bool shard = std::ranges::any_of(
            declared, [&row](const auto& topic) { return topic->sequencing && is_shard_of(row.name, topic->queue); });
        if (!shard && !known.contains(row.name)) left.push_back(row.name);
    }
    return left;
}

}  // namespace shove::cli
