#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "backlog.hpp"

#include <map>
#include <string>
#include <vector>

// The ready messages against a model: a sorted map from position to body.
namespace {

using shove::in_memory::backlog;
using shove::in_memory::entry;
using shove::in_memory::place;
using shove::in_memory::position_source;

shove::message numbered(int n) {
    shove::message_parts parts;
    const std::string body = std::to_string(n);
    parts.payload = std::as_bytes(std::span(body));
    return shove::message::make(parts);
}

int number_of(const shove::message& msg) {
    const auto bytes = msg.payload();
    return std::stoi(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

class modelled {
public:
    void push(int n) {
        for (int i = 0; i < n; ++i) {
            real_.push_back(numbered(next_), nullptr);
            std::uint64_t position = 0;
            real_.browse(last_, 1, [&](std::uint64_t at, const entry& item) {
                position = at;
                RC_ASSERT(number_of(item.msg) == next_);
            });
            RC_ASSERT(position > last_);
            last_ = position;
            model_[position] = next_++;
        }
    }
    void take_front(std::size_t n) {
        real_.take_front(std::min(n, real_.size()), [&](place where, entry& item) {
            RC_ASSERT(where.position == model_.begin()->first);
            RC_ASSERT(number_of(item.msg) == model_.begin()->second);
            away_.emplace_back(where, std::move(item));
            model_.erase(model_.begin());
        });
    }
    void take_somewhere(std::size_t n) {
        if (model_.empty()) return;
        const auto which = std::next(model_.begin(), static_cast<std::ptrdiff_t>(n % model_.size()));
        auto found = real_.take(which->first);
        RC_ASSERT(found.has_value());
        RC_ASSERT(number_of(found->second.msg) == which->second);
        RC_ASSERT(!real_.take(which->first).has_value());
        away_.push_back(std::move(*found));
        model_.erase(which);
    }
    void put_back(std::size_t n) {
        if (away_.empty()) return;
        const auto which = away_.begin() + static_cast<std::ptrdiff_t>(n % away_.size());
        model_[which->first.position] = number_of(which->second.msg);
        real_.put_back(which->first, std::move(which->second));
        away_.erase(which);
    }
    void check(std::uint64_t from, std::size_t page) const {
        RC_ASSERT(real_.size() == model_.size());
        if (!model_.empty()) RC_ASSERT(number_of(real_.front()) == model_.begin()->second);
        const std::uint64_t after = last_ == 0 ? 0 : from % (last_ + 2);
        auto expected = model_.upper_bound(after);
        std::size_t shown = 0;
        real_.browse(after, page, [&](std::uint64_t at, const entry& item) {
            RC_ASSERT(expected != model_.end());
            RC_ASSERT(at == expected->first);
            RC_ASSERT(number_of(item.msg) == expected->second);
            ++expected;
            ++shown;
        });
        RC_ASSERT(shown == page || expected == model_.end());
    }

private:
    position_source positions_;
    backlog real_{positions_};
    std::map<std::uint64_t, int> model_;
    std::vector<std::pair<place, entry>> away_;
    std::uint64_t last_ = 0;
    int next_ = 0;
};

RC_GTEST_PROP(backlog, keeps_order_and_places_through_any_sequence_of_calls, ()) {
    modelled queue;
    const auto steps = *rc::gen::resize(60, rc::gen::arbitrary<std::vector<std::pair<std::uint8_t, std::uint16_t>>>());
    for (const auto& [what, amount] : steps) {
        switch (what % 6) {
            case 0:
            case 1:
                queue.push(amount % 300);
                break;
            case 2:
                queue.take_front(amount % 400);
                break;
            case 3:
                for (int i = 0; i < amount % 50; ++i)
                    queue.take_somewhere(amount + static_cast<std::size_t>(i));
                break;
            default:
                for (int i = 0; i < amount % 50; ++i)
                    queue.put_back(amount * 7u + static_cast<std::size_t>(i));
        }
        queue.check(amount, amount % 20 + 1u);
    }
}

TEST(backlog, holes_at_both_ends_of_blocks_are_stepped_over) {
    position_source positions;
    backlog queue(positions);
    std::vector<std::uint64_t> at;
    for (int i = 0; i < 2000; ++i)
        queue.push_back(numbered(i), nullptr);
    queue.browse(0, 2000, [&](std::uint64_t position, const entry&) { at.push_back(position); });
    for (int i = 0; i < 2000; ++i) {
        if (i % 500 == 499) continue;
        EXPECT_TRUE(queue.take(at[static_cast<std::size_t>(i)]));
    }
    ASSERT_EQ(queue.size(), 4u);
    std::vector<int> left;
    queue.take_front(4, [&](place, entry& item) {
        left.push_back(number_of(item.msg));
        item.msg = {};
    });
    EXPECT_EQ(left, (std::vector{499, 999, 1499, 1999}));
    EXPECT_TRUE(queue.empty());
    queue.push_back(numbered(7), nullptr);
    EXPECT_EQ(number_of(queue.front()), 7);
}

}  // namespace
