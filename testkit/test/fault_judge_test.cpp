#include "fault_judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// The judge of fault ledgers sees what went wrong.
namespace shove::testkit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t seed = 7;

/// A book as it is when all went well, to which a test adds what did not.
class book {
public:
    explicit book(bool sequenced = false) {
        plan_.workers = 2;
        plan_.prefetch = 2;
        plan_.reorder_window = 1;
        plan_.sequenced = sequenced;
    }
    fault_plan& plan() { return plan_; }
    /// The first message, of those that are not used, with such a fate.
    std::uint64_t next(unsigned attempts, bool rejected) {
        const message_fates fates(seed);
        do
            ++last_;
        while (fates.attempts(last_) != attempts || fates.is_rejected(last_) != rejected);
        return last_;
    }
    std::uint64_t published(unsigned attempts = 1, bool rejected = false) {
        const auto number = next(attempts, rejected);
        line(fault_lines::confirmed, number);
        return number;
    }
    void line(char kind, std::uint64_t number) { lines_.push_back({kind, std::to_string(number), {}}); }
    void call(std::uint64_t number, unsigned attempt = 1, bool again = false) {
        lines_.push_back({fault_lines::called,
                          std::to_string(number),
                          {std::to_string(attempt), again || attempt > 1 ? "redelivered" : "first"}});
    }
    void fault(const std::string& name, const std::string& whom) {
        lines_.push_back({fault_lines::harm, name, {whom}});
        lines_.push_back({fault_lines::harmed, name, {}});
    }
    void letter(std::uint64_t number) { dead_.push_back(std::to_string(number)); }
    fault_report judged() const {
        fault_report made;
        made.seed = seed;
        judge_faults(lines_, dead_, plan_, made);
        return made;
    }
    std::vector<std::string> breaches() const { return judged().breaches; }

private:
    fault_plan plan_;
    std::uint64_t last_ = 0;
    std::vector<ledger_line> lines_;
    std::vector<std::string> dead_;
};

TEST(fault_judge, finds_nothing_where_all_went_well) {
    book kept;
    const auto one = kept.published();
    kept.call(one);
    const auto retried = kept.published(2);
    kept.call(retried, 1);
    kept.fault("cut", "all");
    kept.call(one, 1, true);
    kept.call(retried, 2);
    const auto rejected = kept.published(1, true);
    kept.call(rejected);
    kept.letter(rejected);
    kept.line(fault_lines::failed, kept.next(1, false));
    kept.line(fault_lines::unknown, kept.next(1, false));
    const auto unclear = kept.next(1, false);
    kept.line(fault_lines::unknown, unclear);
    kept.call(unclear);
    const auto report = kept.judged();
    EXPECT_THAT(report.breaches, IsEmpty());
    EXPECT_EQ(report.confirmed, 3U);
    EXPECT_EQ(report.failed, 1U);
    EXPECT_EQ(report.unknown, 2U);
    EXPECT_EQ(report.handled, 4U);
    EXPECT_EQ(report.dead, 1U);
    EXPECT_EQ(report.faults, 1U);
    EXPECT_EQ(report.doubled, 1U);
}

TEST(fault_judge, sees_a_lost_message) {
    book kept;
    kept.published();
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("confirmed, then lost")));
}

TEST(fault_judge, sees_a_message_lost_on_its_way_to_a_retry) {
    book kept;
    kept.call(kept.published(2));
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("lost on its way to its next attempt")));
}

TEST(fault_judge, counts_what_the_broker_may_lose) {
    book kept;
    kept.plan().retries_may_be_lost = true;
    kept.call(kept.published(2));
    EXPECT_THAT(kept.breaches(), IsEmpty());
    EXPECT_EQ(kept.judged().lost_retries, 1U);
    kept.published(2);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("confirmed, then lost")));
}

TEST(fault_judge, sees_a_message_that_was_said_not_to_be_stored) {
    book kept;
    const auto number = kept.next(1, false);
    kept.line(fault_lines::failed, number);
    kept.call(number);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("reported as not stored, and handled")));
}

TEST(fault_judge, sees_a_message_of_nobody) {
    book kept;
    kept.call(kept.next(1, false));
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("nobody published it")));
}

TEST(fault_judge, sees_a_count_that_rose_by_itself) {
    book kept;
    const auto number = kept.published();
    kept.call(number);
    kept.call(number, 2);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("an attempt that nobody asked for")));
}

TEST(fault_judge, sees_a_repeated_call_that_is_not_flagged) {
    book kept;
    const auto number = kept.published();
    kept.call(number);
    kept.fault("cut", "all");
    kept.call(number);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("a repeated call is not flagged")));
}

TEST(fault_judge, sees_a_missing_dead_letter) {
    book kept;
    kept.call(kept.published(1, true));
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("rejected, and not dead")));
}

TEST(fault_judge, sees_a_dead_letter_without_a_reason) {
    book kept;
    const auto number = kept.published();
    kept.call(number);
    kept.letter(number);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("dead without a reason")));
}

TEST(fault_judge, sees_a_repeated_call_without_a_fault) {
    book kept;
    const auto number = kept.published();
    kept.call(number);
    kept.call(number, 1, true);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("doubled before any fault")));
}

/// So many calls are repeated after a fault.
std::vector<std::string> breaches_of(unsigned repeated, const std::string& whom) {
    book kept;
    std::vector<std::uint64_t> numbers;
    for (unsigned i = 0; i < repeated; ++i)
        numbers.push_back(kept.published());
    for (const auto number : numbers)
        kept.call(number);
    kept.fault("harm", whom);
    for (const auto number : numbers)
        kept.call(number, 1, true);
    return kept.breaches();
}

TEST(fault_judge, sees_more_doubled_than_one_consumer_may_hold) {
    EXPECT_THAT(breaches_of(2, "one"), IsEmpty());
    EXPECT_THAT(breaches_of(3, "one"), ElementsAre(HasSubstr("more doubled than a fault explains")));
}
TEST(fault_judge, sees_more_doubled_than_all_consumers_may_hold) {
    EXPECT_THAT(breaches_of(4, "all"), IsEmpty());
    EXPECT_THAT(breaches_of(5, "all"), ElementsAre(HasSubstr("more doubled than a fault explains")));
}

TEST(fault_judge, gives_what_is_doubled_to_the_fault_that_has_room) {
    book kept;
    std::vector<std::uint64_t> numbers;
    for (unsigned i = 0; i < 4; ++i)
        numbers.push_back(kept.published());
    for (const auto number : numbers)
        kept.call(number);
    kept.fault("first", "one");
    kept.call(numbers[0], 1, true);
    kept.fault("second", "one");
    for (unsigned i = 1; i < 4; ++i)
        kept.call(numbers[i], 1, true);
    EXPECT_THAT(kept.breaches(), IsEmpty());
}

TEST(fault_judge, counts_a_second_dead_letter_as_doubled) {
    book kept;
    const auto number = kept.published(1, true);
    kept.call(number);
    kept.letter(number);
    kept.letter(number);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("doubled before any fault")));
    kept.fault("cut", "all");
    EXPECT_THAT(kept.breaches(), IsEmpty());
    EXPECT_EQ(kept.judged().doubled, 1U);
}

/// Two messages of one key, the first of which is retried.
std::pair<std::uint64_t, std::uint64_t> two_of_a_key(book& kept) {
    const auto first = kept.published(2);
    auto second = kept.published();
    while (message_fates::key(second) != message_fates::key(first)) {
        kept.call(second);
        second = kept.published();
    }
    return {first, second};
}

TEST(fault_judge, sees_a_key_out_of_order) {
    book kept(true);
    const auto [first, second] = two_of_a_key(kept);
    kept.call(second);
    kept.call(first, 1);
    kept.call(first, 2);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("out of order")));
}

TEST(fault_judge, sees_a_message_that_overtakes_a_retry) {
    book kept(true);
    const auto [first, second] = two_of_a_key(kept);
    kept.call(first, 1);
    kept.call(second);
    kept.call(first, 2);
    EXPECT_THAT(kept.breaches(), ElementsAre(HasSubstr("overtaken")));
}

}  // namespace
}  // namespace shove::testkit
