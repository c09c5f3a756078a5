#include <algorithm>
#include <iterator>
#include <utility>

#include "consumer.hpp"

// Deliveries that are let go in transactions: copies, ends and the commit go out together, one transaction at a time;
// what is decided meanwhile goes into the next one.

namespace shove::rabbitmq_backend {

void consumer::select_transactions(connection& on) {
    amqp_tx_select_t select{};
    on.call<amqp_tx_select_ok_t>(channel_, AMQP_TX_SELECT_METHOD, &select, AMQP_TX_SELECT_OK_METHOD);
}

void consumer::commit(connection& on) {
    if (transaction_.under_way()) return;
    std::vector<departure> next;
    {
        const std::lock_guard lock(mutex_);
        next = take_ops();
        committing_ = next.size();
    }
    if (next.empty()) return;
    next = suited(on, std::move(next));
    {
        const std::lock_guard lock(mutex_);
        committing_ = next.size();
    }
    if (next.empty()) return;
    transaction_.begin(std::move(next));  // before anything is sent: the connection may fail there
    commit_frames(on);
}

std::vector<departure> consumer::suited(const connection& on, std::vector<departure> some) {
    const auto rest = std::ranges::stable_partition(some, [&](const departure& one) { return fits(on, one); });
    if (rest.empty()) return some;
    std::vector<departure> others(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    some.erase(rest.begin(), rest.end());
    {
        const std::lock_guard lock(mutex_);
        for (auto& one : others) {
            if (one.mark != 0) marks_[one.tag] = one.mark;
            handed_.emplace(one.tag, std::move(one.msg));
        }
    }
    for (const auto& one : others)
        one.of->left_out(one.index);
    return some;
}

bool consumer::fits(const connection& on, const departure& one) {
    if (!one.of) return true;
    const auto copies = one.of->copies(one.index);
    if (copies.empty()) return true;
    if (std::chrono::steady_clock::now() < copies_apart_until_) return false;
    return std::ranges::all_of(copies, [&](const parcel& copy) {
        notes_.assign(copy.notes.begin(), copy.notes.end());
        return writer_.write(copy.msg, copy.past, {.room = on.header_room(), .user = plan_.user, .notes = notes_})
            .has_value();
    });
}

void consumer::commit_frames(connection& on) {
    const corked packets(on);
    for (const auto& part : transaction_.parts()) {
        if (!part.of) continue;
        for (const auto& copy : part.of->copies(part.index)) {
            notes_.assign(copy.notes.begin(), copy.notes.end());
            const auto properties =
                writer_.write(copy.msg, copy.past, {.room = on.header_room(), .user = plan_.user, .notes = notes_});
            on.publish(channel_, copy.to->exchange, copy.to->routing_key, true, **properties, copy.msg.payload());
        }
    }
    send_releases(on, transaction_.parts());
    // The server commits whether or not the queues are there. Where one is missing this ends the channel before.
    for (const auto queue : transaction_.targets()) {
        amqp_queue_declare_t look{};
        look.queue = bytes_of(queue);
        look.passive = 1;
        look.nowait = 1;
        on.send(channel_, AMQP_QUEUE_DECLARE_METHOD, &look);
    }
    amqp_tx_commit_t commit{};
    on.send(channel_, AMQP_TX_COMMIT_METHOD, &commit);
}

void consumer::committed() {
    if (transaction_.misses_queues()) keep_copies_apart();
    const auto told = transaction_.committed();
    {
        const std::lock_guard lock(mutex_);
        committing_ = 0;
        for (const auto& one : told.done) {
            if (ledger_) ledger_->drop(one.msg);
        }
    }
    for (const auto& one : told.done) {
        if (one.of) one.of->committed(one.index);
    }
    for (const auto& one : told.uncertain)
        one.of->uncertain(one.index);
}

/// Such a queue costs one channel, and not one each time.
void consumer::keep_copies_apart() {
    copies_apart_until_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

void consumer::give_up(std::vector<departure> some) {
    if (!plan_.lost) return;
    for (auto& one : some) {
        if (one.how != release_kind::ack) continue;
        if (!one.of) {
            const auto name = name_of_copy(one.msg.id(), one.mark);
            spi::settlement done;
            done.item.msg = std::move(one.msg);
            plan_.lost->remember(name, std::move(done));
            continue;
        }
        // Until it is known where its copy is: should it come back, it is not to be called again.
        if (!plan_.shard) plan_.lost->lost(name_of_copy(one.msg.id(), one.mark));
        if (one.mark == 0) continue;
        const std::lock_guard lock(mutex_);
        marks_[one.tag] = one.mark;
    }
    for (const auto& one : some) {
        if (one.of) one.of->uncertain(one.index);
    }
}

}  // namespace shove::rabbitmq_backend
