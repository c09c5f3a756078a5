#include "letter_view.hpp"

namespace shove::cli {

letter_view view_of(const delivery& from) {
    letter_view view;
    view.id = from.id();
    view.queue = from.queue();
    view.attempt = from.attempt();
    view.redelivered = from.redelivered();
    view.published_at = from.published_at();
    view.expires_at = from.expires_at().value_or(wall_time{});
    view.key = from.key();
    view.content_type = from.content_type();
    view.type = from.type();
    view.headers = from.headers();
    view.payload = from.payload();
    if (const auto death = from.death()) {
        view.death = death_view{death->reason,          death->original_queue, death->count,       death->at,
                                from.retries(),         from.crashes(),        from.first_error(), from.last_error(),
                                from.first_failed_at(), from.last_failed_at()};
    }
    return view;
}

letter_view view_of(const spi::browsed& from, std::string_view queue, id_buffer& id) {
    letter_view view;
    view.id = from.msg.id(id);
    view.queue = queue;
    view.published_at = from.msg.published_at();
    view.expires_at = from.msg.expires_at();
    view.key = from.msg.key();
    view.content_type = from.msg.content_type();
    view.type = from.msg.type();
    view.headers = from.msg.headers();
    view.payload = from.msg.payload();
    if (!from.past) return view;
    const auto& past = *from.past;
    view.attempt = past.retries + 1;
    view.redelivered = past.retries > 0;
    view.death =
        death_view{past.death_reason, past.original_queue, past.death_count, past.dead_at,         past.retries,
                   past.crashes,      past.first_error,    past.last_error,  past.first_failed_at, past.last_failed_at};
    return view;
}

}  // namespace shove::cli
