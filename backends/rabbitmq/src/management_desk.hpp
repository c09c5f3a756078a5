#pragma once

#include <shove/detail/question_desk.hpp>
#include <shove/detail/unique_function.hpp>
#include <shove/rabbitmq.hpp>

#include <memory>

#include "management.hpp"

namespace shove::rabbitmq_backend {

/// Asks the management API on a thread of its own, one question at a time, in order.
/// @par Thread safety  Safe.
class management_desk {
public:
    /// Of settings that were checked, and name a management API.
    explicit management_desk(const rabbitmq::config& settings);
    management_desk(const management_desk&) = delete;
    management_desk& operator=(const management_desk&) = delete;
    ~management_desk();

    /// Calls `what` on the thread; or, with why, `refused`: closed, or the settings make no client. Makes the thread
    /// when it is needed first.
    void ask(unique_function<void(management&)> what, unique_function<void(const error&)> refused);
    /// Ends the running call; it and those that wait fail with `errc::closed`. Does not wait.
    void shut();
    /// Waits for the thread, too. Not to be called there.
    void finish();

private:
    std::unique_ptr<management> client_;
    error no_client_;
    detail::question_desk desk_;
};

}  // namespace shove::rabbitmq_backend
