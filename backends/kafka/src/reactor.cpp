#include "reactor.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <utility>

namespace shove::kafka_backend {

reactor::reactor() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {}

reactor::~reactor() {
    finish();
}

void reactor::post(unique_function<void()> task) {
    boost::asio::post(io_, std::move(task));
}

void reactor::post_at(clock::time_point when, unique_function<void()> task) {
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, when);
    // The wait is begun on the thread: a timer is not to be used from two.
    boost::asio::post(io_, [this, timer, task = std::move(task)]() mutable {
        timer->async_wait([this, timer, task = std::move(task)](const boost::system::error_code& why) mutable {
            if (!why && !finished_) task();
        });
    });
}

void reactor::finish() {
    if (!thread_.joinable()) return;
    finished_ = true;
    boost::asio::post(io_, [this] { io_.stop(); });
    thread_.join();
}

}  // namespace shove::kafka_backend
