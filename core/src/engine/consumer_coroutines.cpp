#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

#include "broker_core.hpp"
#include "call_answer.hpp"
#include "consumer.hpp"

namespace shove::detail {

/// On the strand: starts calls while there is room.
void consumer::launch_coroutines() {
    while (true) {
        call* c = nullptr;
        {
            lock_type lock(mutex_);
            c = claim();
            if (!c) {
                launching_ = false;
                break;
            }
            if (!c->cancel) c->cancel = std::make_unique<boost::asio::cancellation_signal>();
        }
        if (observed_) observe_begin(*c, core_->clock().now());
        if (batches_) {
            spawn_batch(*c);
        } else {
            spawn(*c);
        }
    }
    if (lanes_) ask_for_solo();
    pump();
}

void consumer::spawn(call& c) {
    if (!plan_.dead) {
        auto refused = decide::refuse_unhandled(policy_, limits_, c.state.item, core_->clock().wall());
        if (refused) {
            call_end end{std::move(*refused), false};
            if (observed_) observe_end(c, end);
            lock_type lock(mutex_);
            end_call(c, std::move(end));
            return;
        }
    }
    auto run_it = [](std::shared_ptr<consumer> self, call* running) -> call_awaitable {
        delivery info(running->state);
        auto answer = self->plan_.handler->co_call(info, self->coroutine_scratch_);
        co_return co_await std::move(answer);
    };
    auto ended = [self = shared_from_this(), &c](const std::exception_ptr& thrown, call_result answer) {
        if (thrown) return self->coroutine_ended(c, {ended_of(thrown)});
        auto how = ended_of(std::move(answer));
        const bool called = counted_outcome(how).has_value();
        self->coroutine_ended(c, {std::move(how), called});
    };
    boost::asio::co_spawn(*strand_, run_it(shared_from_this(), &c),
                          boost::asio::bind_cancellation_slot(c.cancel->slot(), std::move(ended)));
}

void consumer::spawn_batch(call& c) {
    call_end end;
    if (!admit(c, end)) {
        if (observed_) observe_end(c, end);
        lock_type lock(mutex_);
        end_call(c, std::move(end));
        return;
    }
    auto run_it = [](std::shared_ptr<consumer> self, call* running) -> batch_awaitable {
        batch_call all{running->admitted, running->state, running->answer};
        auto answer = self->plan_.handler->co_call_batch(all, self->coroutine_scratch_);
        co_await std::move(answer);
    };
    auto ended = [self = shared_from_this(), &c, end = std::move(end)](const std::exception_ptr& thrown) mutable {
        take_answer(c, thrown, end);
        self->coroutine_ended(c, std::move(end));
    };
    boost::asio::co_spawn(*strand_, run_it(shared_from_this(), &c),
                          boost::asio::bind_cancellation_slot(c.cancel->slot(), std::move(ended)));
}

void consumer::coroutine_ended(call& c, call_end end) {
    bool quiet = false;
    if (observed_) observe_end(c, end);
    {
        lock_type lock(mutex_);
        end_call(c, std::move(end));
        quiet = running_ == 0 && core_->gate().closed();
    }
    if (quiet) core_->gate().recheck();
    pump();
}

}  // namespace shove::detail
