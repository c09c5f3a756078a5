#include "fault_judge.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

namespace shove::testkit {

std::uint64_t message_fates::dice(std::uint64_t number, std::uint64_t which) const noexcept {
    auto z = seed_ + (number * 4 + which) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

unsigned message_fates::attempts(std::uint64_t number) const noexcept {
    const auto thrown = dice(number, 0) % 100;
    if (thrown < 3) return 3;
    return thrown < 15 ? 2 : 1;
}

bool message_fates::is_rejected(std::uint64_t number) const noexcept {
    return dice(number, 1) % 100 < 6;
}

std::chrono::microseconds message_fates::duration(std::uint64_t number) const noexcept {
    return std::chrono::microseconds(dice(number, 2) % 3'000);
}

std::uint64_t message_fates::key(std::uint64_t number) noexcept {
    constexpr std::uint64_t keys = 40;
    return number % keys;
}

namespace {

/// More of one kind say nothing new.
constexpr std::size_t most_breaches = 10;

/// Places of lines stand for moments.
using moment = std::size_t;

/// What happened to one message.
struct story {
    char published = ' ';
    std::map<unsigned, std::vector<moment>> calls;  ///< By attempt.
    std::size_t letters = 0;
    std::size_t unflagged = 0;  ///< Calls that say they are the first one.

    std::size_t count(unsigned attempt) const {
        const auto at = calls.find(attempt);
        return at == calls.end() ? 0 : at->second.size();
    }
};

struct fault {
    std::string name;
    moment begin = 0;
    moment end = 0;
    std::size_t bound = 0;  ///< So much may be doubled by it.
};

/// Something was done twice, and a fault between the two explains it.
struct doubling {
    std::uint64_t number = 0;
    moment before = 0;
    moment after = 0;
};

class judge {
public:
    judge(const fault_plan& plan, fault_report& into) : plan_(plan), fates_(into.seed), report_(into) {}

    void read(const std::vector<ledger_line>& lines) {
        for (now_ = 0; now_ < lines.size(); ++now_) {
            const auto& line = lines[now_];
            if (line.kind == fault_lines::called) {
                called(line);
            } else if (line.kind == fault_lines::harm) {
                faults_.push_back({line.id, now_, std::string::npos, bound(line.fields.at(0))});
            } else if (line.kind == fault_lines::harmed) {
                const auto at = std::find_if(faults_.rbegin(), faults_.rend(),
                                             [&](const fault& each) { return each.name == line.id; });
                if (at != faults_.rend()) at->end = now_;
            } else {
                stories_[std::stoull(line.id)].published = line.kind;
            }
        }
        std::erase_if(faults_, [](const fault& each) { return each.end == std::string::npos; });  // hit nothing
        report_.faults = faults_.size();
    }

    void read_dead(const std::vector<std::string>& dead) {
        for (const auto& id : dead) {
            if (id.find_first_not_of("0123456789") != id.npos) {
                breach("a dead letter of no known reason", id);
            } else {
                ++stories_[std::stoull(id)].letters;
            }
        }
    }

    void conclude() {
        for (const auto& [number, about] : stories_) {
            check_published(number, about);
            check_calls(number, about);
            check_dead(number, about);
        }
        check_doublings();
        for (const auto& [what, count] : counts_) {
            if (count > most_breaches)
                report_.breaches.push_back(what + ": " + std::to_string(count) + " times in all");
        }
    }

private:
    std::size_t bound(const std::string& whom) const {
        if (plan_.sequenced) return fault_shards * plan_.reorder_window;  // any consumer may have all shards
        return whom == "all" ? plan_.workers * plan_.prefetch : plan_.prefetch;
    }

    void breach(const std::string& what, const std::string& which) {
        if (counts_[what]++ < most_breaches) report_.breaches.push_back(what + ": " + which);
    }
    void breach(const std::string& what, std::uint64_t number) { breach(what, std::to_string(number)); }

    void called(const ledger_line& line) {
        const auto number = std::stoull(line.id);
        auto& about = stories_[number];
        if (about.calls.empty() && plan_.sequenced) check_order(number);
        const auto attempt = static_cast<unsigned>(std::stoul(line.fields.at(0)));
        // One may be the very first delivery, also where it is called late: by a process that was cut off with it in
        // hand.
        const bool flagged = line.fields.at(1) == "redelivered";
        if (!flagged && (attempt > 1 || about.unflagged++ > 0)) breach("a repeated call is not flagged", number);
        about.calls[attempt].push_back(now_);
    }

    /// At the first call of a message: all that was handled of its key came before it, and has had its last call.
    void check_order(std::uint64_t number) {
        auto& latest = latest_[message_fates::key(number)];
        if (number < latest) {
            breach("out of order", std::to_string(number) + " was called first after " + std::to_string(latest));
        }
        if (latest != 0 && stories_[latest].count(fates_.attempts(latest)) == 0) {
            breach("overtaken", std::to_string(latest) + " had not ended when " + std::to_string(number) + " began");
        }
        latest = std::max(latest, number);
    }

    void check_published(std::uint64_t number, const story& about) {
        if (!about.calls.empty()) ++report_.handled;
        if (about.letters > 0) ++report_.dead;
        if (about.published == fault_lines::confirmed) {
            ++report_.confirmed;
            if (about.calls.empty()) breach("confirmed, then lost", number);
        } else if (about.published == fault_lines::failed) {
            ++report_.failed;
            if (!about.calls.empty()) breach("reported as not stored, and handled", number);
        } else if (about.published == fault_lines::unknown) {
            ++report_.unknown;
        } else {
            breach("nobody published it", number);
        }
    }

    void check_calls(std::uint64_t number, const story& about) {
        if (about.calls.empty()) return;
        const auto asked = fates_.attempts(number);
        const auto last = about.calls.rbegin()->first;
        if (last > asked) breach("an attempt that nobody asked for", number);
        if (last < asked && plan_.retries_may_be_lost) {
            ++report_.lost_retries;
        } else if (last < asked) {
            breach("lost on its way to its next attempt", number);
        }
        const auto& first = about.calls.begin()->second;
        for (std::size_t i = 1; i < first.size(); ++i)
            doublings_.push_back({number, first[i - 1], first[i]});
        for (auto attempt = 2U; attempt <= last; ++attempt) {
            const auto before = about.count(attempt - 1);
            const auto at = about.calls.find(attempt);
            // Each earlier call may have made one of these; what is more was stored twice.
            for (auto i = before; at != about.calls.end() && i < at->second.size(); ++i) {
                const auto from = before > 0 ? about.calls.at(attempt - 1).front() : at->second.front();
                doublings_.push_back({number, from, at->second[i]});
            }
        }
    }

    void check_dead(std::uint64_t number, const story& about) {
        const bool rejected = fates_.is_rejected(number);
        if (about.letters > 0 && !rejected) breach("dead without a reason", number);
        if (about.letters > 0 && about.count(fates_.attempts(number)) == 0) breach("dead without a call", number);
        const auto calls = about.count(fates_.attempts(number));
        if (calls == 0) return;
        if (about.letters == 0 && rejected) breach("rejected, and not dead", number);
        // Two letters for one call: a copy whose confirmation was cut off, and the next try.
        for (auto i = calls; i < about.letters; ++i)
            doublings_.push_back({number, about.calls.at(fates_.attempts(number)).front(), now_});
    }

    struct suspects {
        std::size_t first = 0;
        std::size_t last = 0;
        std::size_t likely = 0;
        auto operator<=>(const suspects&) const = default;
    };

    /// Which faults may explain it: those between the two, and the last one before. (What a consumer had in hand when
    /// its connection went, it may have called a moment later.) Likely is the first one between the two.
    std::optional<suspects> explained_by(const doubling& what) const {
        const auto begun_by = [&](moment when) {
            return static_cast<std::size_t>(std::ranges::lower_bound(faults_, when, {}, &fault::begin) -
                                            faults_.begin());
        };
        const auto end = begun_by(what.after);
        if (end == 0) return std::nullopt;
        const auto next = begun_by(what.before);
        const auto open = std::ranges::find_if(faults_, [&](const fault& each) { return each.end > what.before; });
        suspects made;
        made.first = std::min(next > 0 ? next - 1 : 0, static_cast<std::size_t>(open - faults_.begin()));
        made.last = end - 1;
        made.likely = std::min(next, made.last);
        return made;
    }

    /// Gives each doubling to one of the faults that may explain it, so that none gets more than its bound, if that can
    /// be: each fault, in their order, takes those first that no later one explains.
    void check_doublings() {
        std::vector<suspects> all;
        std::vector<std::size_t> found(faults_.size());
        report_.doubled = doublings_.size();
        for (const auto& each : doublings_) {
            const auto faults = explained_by(each);
            if (!faults) {
                breach("doubled before any fault", each.number);
                continue;
            }
            all.push_back(*faults);
            report_.most_doubled = std::max(report_.most_doubled, ++found[faults->likely]);
        }
        std::ranges::sort(all);
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> open;  // by the last fault
        auto next = all.begin();
        for (std::size_t i = 0; i < faults_.size(); ++i) {
            for (; next != all.end() && next->first <= i; ++next)
                open.push(next->last);
            for (auto room = faults_[i].bound; room > 0 && !open.empty(); --room)
                open.pop();
            for (; !open.empty() && open.top() <= i; open.pop())
                breach("more doubled than a fault explains", "at " + faults_[i].name);
        }
    }

    const fault_plan& plan_;
    const message_fates fates_;
    fault_report& report_;
    moment now_ = 0;
    std::map<std::uint64_t, story> stories_;
    std::map<std::uint64_t, std::uint64_t> latest_;  ///< Of each key, of those that were called.
    std::vector<fault> faults_;
    std::vector<doubling> doublings_;
    std::map<std::string, std::size_t> counts_;
};

}  // namespace

void judge_faults(const std::vector<ledger_line>& lines, const std::vector<std::string>& dead, const fault_plan& plan,
                  fault_report& into) {
    judge one(plan, into);
    one.read(lines);
    one.read_dead(dead);
    one.conclude();
}

}  // namespace shove::testkit
