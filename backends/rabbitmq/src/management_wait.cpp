#include "management_wait.hpp"

#include <boost/asio/post.hpp>

namespace shove::rabbitmq_backend {

wait_end timed_wait::until(const bool& done, steady_time deadline) {
    while (!done) {
        if (stopped_) return wait_end::stopped;
        if (std::chrono::steady_clock::now() >= deadline) return wait_end::timed_out;
        context_.restart();
        context_.run_one_until(deadline);
    }
    return wait_end::done;
}

void timed_wait::finish(const bool& done) {
    while (!done) {
        context_.restart();
        context_.run_one();
    }
}

void timed_wait::stop() {
    stopped_ = true;
    boost::asio::post(context_, [] {});  // wakes the waiting thread, which sees the flag
}

}  // namespace shove::rabbitmq_backend
