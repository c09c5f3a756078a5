#include "doubts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Who had a message before: what notes say together, and what is decided by them.
namespace shove::rabbitmq_backend {
namespace {

using namespace std::chrono_literals;
using kind = shard_record::kind;
using testing::ElementsAre;
using testing::IsEmpty;

/// Notes of a queue, and what a reader makes of them.
class notes_book {
public:
    notes_book& list(kind what, const std::vector<std::string>& ids) { return add(what, {}, false, 0, ids); }
    notes_book& alone(const std::string& id, std::uint32_t crashes) { return add(kind::wait, id, true, crashes); }
    notes_book& ended(const std::string& id) { return add(kind::wait, id, false, 0); }
    notes_book& suspect(const std::string& id, std::uint32_t crashes) { return add(kind::suspect, id, false, crashes); }

    /// Without the first of the needless ones.
    findings found(std::size_t removed = 0) const {
        const auto gone = needless();
        const std::set<std::uint64_t> out(gone.begin(), gone.begin() + static_cast<std::ptrdiff_t>(removed));
        return read([&](auto tag) { return !out.contains(tag); }).found();
    }
    std::vector<std::uint64_t> needless() const {
        return read([](auto) { return true; }).needless();
    }

private:
    struct entry {
        kind what;
        std::string id;
        bool alone;
        std::uint32_t crashes;
        std::string body;
    };
    notes_book& add(kind what, std::string id, bool alone, std::uint32_t crashes,
                    const std::vector<std::string>& ids = {}) {
        entries_.push_back({what, std::move(id), alone, crashes, listed(ids)});
        return *this;
    }
    template <class Which>
    note_reader read(Which which) const {
        note_reader made;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto& each = entries_[i];
            if (!which(i + 1)) continue;
            shard_record record;
            record.what = each.what;
            record.id = each.id;
            record.alone = each.alone;
            if (each.crashes > 0) {
                record.past = std::make_unique<spi::history>();
                record.past->crashes = each.crashes;
            }
            made.note(i + 1, record, std::as_bytes(std::span(each.body)));
        }
        return made;
    }

    std::vector<entry> entries_;
};

constexpr finding innocent{.given_back = true};
constexpr finding nothing{};

finding with_crashes(std::uint32_t crashes) {
    return {.crashes = crashes};
}

TEST(rabbitmq_note_reader, who_was_given_back_is_innocent_once) {
    notes_book book;
    EXPECT_EQ(book.list(kind::released, {"a", "b"}).found().at("a"), innocent);
    EXPECT_EQ(book.list(kind::taken, {"a"}).found().at("a"), nothing);
    EXPECT_EQ(book.found().at("b"), innocent);
    EXPECT_EQ(book.list(kind::released, {"a"}).found().at("a"), innocent);
}

TEST(rabbitmq_note_reader, a_call_that_runs_alone_counts_until_its_process_says_that_it_lives) {
    notes_book book;
    EXPECT_EQ(book.alone("a", 1).found().at("a"), with_crashes(2));
    EXPECT_EQ(book.suspect("a", 1).found().at("a"), with_crashes(1));
    EXPECT_EQ(book.alone("a", 1).found().at("a"), with_crashes(2));
    EXPECT_EQ(book.ended("a").found().at("a"), nothing);
}

/// Of a process that was cut off for long: somebody has begun with the message since.
TEST(rabbitmq_note_reader, a_late_note_does_not_clear_a_suspect) {
    notes_book book;
    EXPECT_EQ(book.alone("a", 1).list(kind::released, {"a"}).found().at("a"), with_crashes(2));
    EXPECT_EQ(book.list(kind::taken, {"a"}).list(kind::missed, {"a"}).found().at("a"), with_crashes(2));
}

TEST(rabbitmq_note_reader, that_nothing_was_found_counts_where_nothing_is_known) {
    notes_book book;
    EXPECT_EQ(book.list(kind::missed, {"a"}).found().at("a"), (finding{.missed = true}));
    EXPECT_EQ(book.list(kind::released, {"a"}).found().at("a"), innocent);
    EXPECT_EQ(book.list(kind::missed, {"a"}).found().at("a"), innocent);
}

TEST(rabbitmq_note_reader, what_is_taken_is_needless_with_what_it_takes) {
    notes_book book;
    book.list(kind::released, {"a", "b"}).list(kind::taken, {"a"});
    EXPECT_THAT(book.needless(), IsEmpty()) << "b would be innocent no longer, or a would be again";
    EXPECT_THAT(book.list(kind::taken, {"b"}).needless(), ElementsAre(1, 2, 3));
}

TEST(rabbitmq_note_reader, a_storm_leaves_little) {
    notes_book book;
    for (int cut = 0; cut < 100; ++cut)
        book.list(kind::released, {"a", "b"}).list(kind::missed, {"c"}).list(kind::taken, {"b", "a"});
    EXPECT_EQ(book.needless().size(), 299U) << "that c was missed stays";
}

/// Whoever removes notes may die at it: what is left says the same at any point.
TEST(rabbitmq_note_reader, removing_changes_nothing_however_far_it_gets) {
    std::uint32_t random = 1;
    const auto next = [&](std::uint32_t below) {
        random = random * 1'664'525 + 1'013'904'223;
        return (random >> 16U) % below;
    };
    for (int round = 0; round < 2'000; ++round) {
        notes_book book;
        for (int n = 0; n < 10; ++n) {
            const std::string id(1, static_cast<char>('a' + next(3)));
            const std::string other(1, static_cast<char>('a' + next(3)));
            switch (next(6)) {
                case 0:
                    book.list(kind::released, {id, other});
                    break;
                case 1:
                    book.list(kind::taken, {id, other});
                    break;
                case 2:
                    book.list(kind::missed, {id, other});
                    break;
                case 3:
                    book.alone(id, 1 + next(2));
                    break;
                case 4:
                    book.suspect(id, 1 + next(2));
                    break;
                default:
                    book.ended(id);
            }
        }
        const auto whole = book.found();
        for (std::size_t removed = 0; removed <= book.needless().size(); ++removed) {
            const auto rest = book.found(removed);
            for (const auto& [id, known] : whole) {
                const auto at = rest.find(id);
                EXPECT_EQ(at == rest.end() ? nothing : at->second, known) << id << " in round " << round;
            }
        }
    }
}

// --- what is decided ----------------------------------------------------------------------------------

spi::delivery message_of(const std::string& id) {
    message_parts parts;
    parts.id = id;
    spi::delivery item;
    item.msg = message::make(parts);
    return item;
}

constexpr steady_time start{1h};

std::vector<std::string> ids_of(const std::vector<spi::delivery>& items) {
    std::vector<std::string> ids;
    for (const auto& item : items)
        ids.push_back(item.msg.id());
    return ids;
}

/// A look at the notes that begins then, and what it finds.
doubts::verdicts look(doubts& at, steady_time now, const std::optional<findings>& found) {
    EXPECT_TRUE(at.begin(now));
    auto made = at.judge(found);
    at.done(now);
    return made;
}

TEST(rabbitmq_doubts, decide_by_notes_at_once) {
    doubts some;
    for (const auto* id : {"back", "crashed", "missed"})
        some.add(message_of(id), start, start + 1s);
    const auto told =
        look(some, start, findings{{"back", innocent}, {"crashed", with_crashes(2)}, {"missed", {.missed = true}}});
    EXPECT_THAT(ids_of(told.innocent), ElementsAre("back"));
    EXPECT_THAT(ids_of(told.suspect), ElementsAre("crashed", "missed"));
    EXPECT_EQ(told.suspect[0].past->crashes, 2U);
    EXPECT_EQ(told.suspect[1].past->crashes, 1U);
    EXPECT_EQ(some.size(), 0U);
}

TEST(rabbitmq_doubts, wait_for_notes_until_the_grace_is_over) {
    doubts some;
    some.add(message_of("a"), start, start + 1s);
    EXPECT_THAT(some.missed(), IsEmpty());
    EXPECT_THAT(look(some, start, findings{}).suspect, IsEmpty());
    EXPECT_THAT(some.missed(), ElementsAre("a"));
    EXPECT_FALSE(some.begin(start + 100ms));
    EXPECT_EQ(some.due(), start + 200ms);
    EXPECT_THAT(look(some, start + 999ms, findings{}).suspect, IsEmpty());
    EXPECT_THAT(ids_of(look(some, start + 1'200ms, findings{}).suspect), ElementsAre("a"));
    EXPECT_EQ(some.due(), steady_time::max());
}

/// Where a process died, the rest of what it had needs no grace of its own; until something else happens.
TEST(rabbitmq_doubts, wait_once_for_what_one_process_had) {
    doubts some;
    some.add(message_of("a"), start, start + 1s);
    EXPECT_THAT(ids_of(look(some, start + 1s, findings{}).suspect), ElementsAre("a"));
    some.add(message_of("b"), start + 1s, start + 2s);
    some.add(message_of("c"), start + 1s, start + 2s);
    const auto told = look(some, start + 1s, findings{{"b", innocent}});
    EXPECT_THAT(ids_of(told.innocent), ElementsAre("b"));
    EXPECT_THAT(ids_of(told.suspect), ElementsAre("c"));
    some.clear();
    some.add(message_of("d"), start + 1s, start + 2s);
    EXPECT_THAT(look(some, start + 1s, findings{}).suspect, IsEmpty());
}

/// A killed node marks a whole classic queue as delivered before.
TEST(rabbitmq_doubts, suspect_no_more_in_a_row_than_a_few_processes_may_have_had) {
    doubts some(2);
    const auto wave = [&](const std::vector<std::string>& ids) {
        for (const auto& id : ids)
            some.add(message_of(id), start, start);
        return look(some, start, findings{{"noted", with_crashes(1)}});
    };
    auto told = wave({"a", "b", "c"});
    EXPECT_THAT(ids_of(told.suspect), ElementsAre("a", "b"));
    EXPECT_THAT(ids_of(told.innocent), ElementsAre("c"));
    told = wave({"d", "noted"});
    EXPECT_THAT(ids_of(told.suspect), ElementsAre("noted"));
    EXPECT_THAT(ids_of(told.innocent), ElementsAre("d"));
    some.row_ends();
    EXPECT_THAT(ids_of(wave({"e"}).suspect), ElementsAre("e"));
}

/// What comes while the notes are read may be in notes that are newer.
TEST(rabbitmq_doubts, look_again_for_what_came_meanwhile) {
    doubts some;
    some.add(message_of("a"), start, start);
    EXPECT_TRUE(some.begin(start));
    some.add(message_of("b"), start, start);
    EXPECT_FALSE(some.begin(start + 1s)) << "one at a time";
    EXPECT_THAT(ids_of(some.judge(findings{}).suspect), ElementsAre("a"));
    some.done(start);
    EXPECT_THAT(ids_of(look(some, start, findings{{"b", innocent}}).innocent), ElementsAre("b"));
}

TEST(rabbitmq_doubts, suspect_nobody_because_notes_cannot_be_read_but_not_for_ever) {
    doubts some;
    some.add(message_of("a"), start, start);
    EXPECT_THAT(look(some, start + 9s, std::nullopt).suspect, IsEmpty());
    EXPECT_THAT(some.missed(), IsEmpty());
    EXPECT_THAT(ids_of(look(some, start + 10s, std::nullopt).suspect), ElementsAre("a"));
    some.add(message_of("b"), start + 10s, start + 11s);
    EXPECT_THAT(ids_of(look(some, start + 10s, std::nullopt).suspect), ElementsAre("b"));
}

/// A copy knows of its crashes by itself, and given back it keeps them.
TEST(rabbitmq_doubts, keep_the_crashes_of_before) {
    doubts some;
    auto item = message_of("a");
    item.past = std::make_unique<spi::history>();
    item.past->crashes = 2;
    some.add(std::move(item), start, start + 1s);
    const auto told = look(some, start, findings{{"a", innocent}});
    EXPECT_THAT(told.innocent, IsEmpty());
    ASSERT_EQ(told.suspect.size(), 1U);
    EXPECT_EQ(told.suspect.front().past->crashes, 2U);
}

}  // namespace
}  // namespace shove::rabbitmq_backend
