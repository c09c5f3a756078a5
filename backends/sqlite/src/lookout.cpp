#include "lookout.hpp"

#include "mailbox.hpp"
#include "view.hpp"

#include <optional>
#include <utility>

namespace shove::sqlite_backend {

lookout::lookout(database::options settings, std::shared_ptr<clock> time)
    : settings_(std::move(settings)), time_(std::move(time)), thread_([this] { run(); }) {}

template <class T>
void lookout::ask(spi::callback<void(result<T>)> done, unique_function<T(view&)> question) {
    post([done = std::move(done), question = std::move(question)](view* on, const error& cause) mutable {
        if (on == nullptr) return done(cause);
        auto answer = question(*on);
        if (on->connection().ok()) return done(std::move(answer));
        const auto failure = on->connection().failure();
        on->connection().clear_failure();
        done(failure);
    });
}

void lookout::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    ask<spi::queue_depth>(std::move(done), [queue = std::move(queue)](view& on) { return on.depth(queue); });
}

void lookout::list(spi::callback<void(result<std::vector<spi::queue_info>>)> done) {
    ask<std::vector<spi::queue_info>>(std::move(done), [](view& on) { return on.list(); });
}

void lookout::browse(std::string queue, std::uint64_t after, std::size_t max,
                     spi::callback<void(result<std::vector<spi::browsed>>)> done) {
    ask<std::vector<spi::browsed>>(
        std::move(done), [queue = std::move(queue), after, max](view& on) { return on.browse(queue, after, max); });
}

void lookout::list_keys(std::vector<std::string> queues,
                        spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) {
    ask<std::vector<spi::poisoned_key>>(std::move(done),
                                        [queues = std::move(queues)](view& on) { return on.poisoned(queues); });
}

void lookout::post(task what) {
    {
        const std::lock_guard lock(guard_);
        if (!stopped_) {
            tasks_.push_back(std::move(what));
            change_.notify_one();
            return;
        }
    }
    what(nullptr, closed_error());
}

void lookout::run() {
    std::optional<view> on;  // opened by the first question: most drivers are never asked one
    for (;;) {
        task next;
        {
            std::unique_lock lock(guard_);
            change_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            next = std::move(tasks_.front());
            tasks_.pop_front();
            if (stopped_) {
                lock.unlock();
                next(nullptr, closed_error());
                continue;
            }
        }
        if (!on) on.emplace(settings_, time_);
        if (on->connection().ok()) {
            next(&*on, {});
        } else {
            const auto cause = on->connection().failure();
            on.reset();
            next(nullptr, cause);
        }
    }
}

void lookout::stop() {
    {
        const std::lock_guard lock(guard_);
        stopped_ = true;
    }
    change_.notify_one();
    if (thread_.joinable()) thread_.join();
}

}  // namespace shove::sqlite_backend
