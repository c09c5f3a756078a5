#include "lease_store.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend::lease {

void lease_store::give_back(std::int64_t group, std::int64_t seq, std::int64_t attempts, const moment& at) {
    if (detail::gives_up(static_cast<std::uint32_t>(attempts), space_.limits)) {
        deliveries_.bury(group, seq, detail::attempts_used_up, at.wall_ms);
    } else {
        deliveries_.wait(group, seq, 0, "");
    }
}

void lease_store::sweep(std::int64_t group, const moment& at) {
    for (const auto& each : deliveries_.ended(group, at.steady_us))
        give_back(group, each.seq, each.attempts, at);
    deliveries_.wake(group, at.wall_ms);
}

result<std::vector<leased>> lease_store::receive(const lease_request& what) {
    if (!now_) return now_.error();
    const auto at = *now_;
    const auto ends = detail::later_ms(at.wall_ms, what.lease);
    if (!ends) return ends.error();
    const auto from = find(what.topic, what.group);
    if (!from) return from.error();
    sweep(from->group->id, at);

    struct taken {
        std::int64_t row;
        std::int64_t attempts;  ///< Before this one; below 0: not started yet.
    };
    std::vector<taken> rows;
    for (const auto& each : deliveries_.ready(from->group->id, what.max)) {
        // The limit was lowered since.
        if (detail::gives_up(static_cast<std::uint32_t>(each.attempts), space_.limits)) {
            deliveries_.bury(from->group->id, each.seq, detail::attempts_used_up, at.wall_ms);
        } else {
            rows.push_back({each.seq, each.attempts});
        }
    }
    if (rows.size() < what.max && from->group->cursor < from->topic->tail) {
        for (const auto row : messages_.rows_between(from->group->cursor, from->topic->tail, what.max - rows.size()))
            rows.push_back({row, -1});
    }
    std::vector<detail::random_16> tokens(rows.size());
    if (auto failed = random_.fill(tokens)) return failed;
    std::vector<leased> made;
    made.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool first = rows[i].attempts < 0;
        const auto attempt = first ? 1 : rows[i].attempts + 1;
        const lease_token token(tokens[i]);
        auto envelope = messages_.read(*from->topic, what.topic, rows[i].row);
        deliveries_.lease(from->group->id, rows[i].row, first, attempt, token, what.consumer,
                          at.steady_us + what.lease.count() * 1000);
        if (!db.ok()) return db.failure();
        if (first) {
            from->group->cursor = rows[i].row;
            from->group->changed = true;
            topics_.touch(*from->topic);
        }
        made.push_back({std::move(envelope), what.group, what.consumer, static_cast<std::uint32_t>(attempt),
                        detail::from_ms(*ends), token});
    }
    if (!db.ok()) return db.failure();
    return made;
}

result<lease_settled> lease_store::settle(const lease_settlement& how) {
    if (!now_) return now_.error();
    const auto held = deliveries_.by_token(how.token);
    if (!db.ok()) return db.failure();
    if (!held || held->space != space_.id) return detail::lease_unknown();
    if (held->at <= now_->steady_us) {
        give_back(held->group, held->seq, held->attempts, *now_);
        if (!db.ok()) return db.failure();
        return detail::lease_over();
    }
    return settle_held(*held, how, *now_);
}

result<lease_settled> lease_store::settle_held(const delivery_table::row& held, const lease_settlement& how,
                                               const moment& at) {
    using kind = lease_settlement::kind;
    const auto later = detail::later_ms(at.wall_ms, how.time);
    if (!later) return later.error();
    lease_settled done{lease_settled::state::acknowledged, detail::from_ms(at.wall_ms)};
    const bool given_up = detail::gives_up(static_cast<std::uint32_t>(held.attempts), space_.limits);
    if (how.what == kind::acknowledge) {
        deliveries_.finish(held.group, held.seq);
    } else if (how.what == kind::extend) {
        deliveries_.extend(held.group, held.seq, at.steady_us + how.time.count() * 1000);
        done = {lease_settled::state::extended, detail::from_ms(*later)};
    } else if (how.what == kind::again && !given_up) {
        // 0 means that it is due: a retry at once is.
        deliveries_.wait(held.group, held.seq, how.time.count() == 0 ? 0 : *later, how.code);
        done = {lease_settled::state::scheduled, detail::from_ms(*later)};
    } else {
        deliveries_.bury(held.group, held.seq, how.code, at.wall_ms);
        done.what = lease_settled::state::dead_lettered;
    }
    if (!db.ok()) return db.failure();
    return done;
}

result<lease_dead_page> lease_store::dead_letters(const lease_dead_query& what) {
    const auto at = find(what.topic, what.group);
    if (!at) return at.error();
    lease_dead_page page;
    if (what.after >= at->topic->sequence_of(at->topic->tail)) return page;  // a cursor from outside, too
    auto letters = deliveries_.letters(at->group->id, at->topic->row_of(what.after), what.limit + 1);
    const bool more = letters.size() > what.limit;
    if (more) letters.pop_back();
    for (auto& each : letters) {
        page.letters.push_back({messages_.read(*at->topic, what.topic, each.seq), what.group, std::move(each.consumer),
                                static_cast<std::uint32_t>(each.attempts), std::move(each.code),
                                detail::from_ms(each.at)});
        if (!db.ok()) return db.failure();
    }
    if (more) page.next = page.letters.back().envelope->sequence;
    return page;
}

result<std::size_t> lease_store::redrive(const lease_redrive& what) {
    const auto at = find(what.topic, what.group);
    if (!at) return at.error();
    std::vector<std::int64_t> rows;
    for (const auto each : what.sequences) {
        if (each <= at->topic->sequence_of(at->topic->tail)) rows.push_back(at->topic->row_of(each));
    }
    if (what.sequences.empty()) rows = deliveries_.dead_rows(at->group->id, what.limit);
    std::size_t sent = 0;
    for (const auto row : rows)
        sent += deliveries_.redrive(at->group->id, row) ? 1 : 0;
    if (!db.ok()) return db.failure();
    return sent;
}

}  // namespace shove::sqlite_backend::lease
