#include "support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace shove::sqlite_test {

steady_time manual_clock::now() const noexcept {
    const std::lock_guard lock(guard_);
    return now_;
}

wall_time manual_clock::wall() const noexcept {
    const std::lock_guard lock(guard_);
    return wall_;
}

clock::timer_id manual_clock::call_at(steady_time when, unique_function<void()> action) {
    const std::lock_guard lock(guard_);
    timers_.emplace(when, std::pair(++last_, std::move(action)));
    return last_;
}

bool manual_clock::cancel(timer_id id) {
    const std::lock_guard lock(guard_);
    return std::erase_if(timers_, [id](const auto& timer) { return timer.second.first == id; }) > 0;
}

void manual_clock::advance(milliseconds by) {
    std::vector<unique_function<void()>> due;
    {
        const std::lock_guard lock(guard_);
        now_ += by;
        wall_ += by;
        while (!timers_.empty() && timers_.begin()->first <= now_) {
            due.push_back(std::move(timers_.begin()->second.second));
            timers_.erase(timers_.begin());
        }
    }
    for (auto& action : due)
        action();
}

void manual_clock::step_wall(milliseconds by) {
    const std::lock_guard lock(guard_);
    wall_ += by;
}

scratch_folder::scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "shove-sqlite-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a scratch folder");
    path_ = name;
}

scratch_folder::~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

topology_ptr plain_topology(std::string_view queue) {
    return queue_topology::make(topology(queue).hold(1s).dlq()).value();
}

message text_message(std::string_view body, std::string_view id) {
    message_parts parts;
    parts.id = id;
    parts.payload = std::as_bytes(std::span(body));
    return message::make(parts);
}

std::string body_of(const message& m) {
    return {reinterpret_cast<const char*>(m.payload().data()), m.payload().size()};
}

std::string body_of(const spi::delivery& d) {
    return body_of(d.msg);
}

client::client(sqlite::config settings, std::shared_ptr<clock> time) : clock_(time ? time : make_system_clock()) {
    auto opened = sqlite::open(settings, {clock_});
    if (!opened) throw std::runtime_error(opened.error().message());
    driver_ = std::move(*opened);
}

client::client(const std::filesystem::path& path, std::shared_ptr<clock> time)
    : client(sqlite::config{.path = path}, std::move(time)) {}

result<std::shared_ptr<spi::driver>> client::try_open(const std::filesystem::path& path) {
    return sqlite::open({.path = path}, {make_system_clock()});
}

void client::declare(const topology_ptr& topology) {
    outcome_of<error> answer;
    driver_->declare(topology, answer.callback());
    const auto cause = answer.get();
    ASSERT_FALSE(cause) << cause.message();
}

void client::publish(const topology_ptr& topology, std::vector<std::string> bodies, milliseconds delay) {
    spi::publish_request request;
    for (const auto& body : bodies)
        request.messages.push_back({text_message(body), delay});
    const auto report = try_publish(topology, std::move(request));
    for (const auto& one : report.each)
        ASSERT_EQ(one.status, spi::publish_status::ok) << one.cause.message();
}

void client::publish_message(const topology_ptr& topology, message what) {
    spi::publish_request request;
    request.messages.push_back({std::move(what), 0ms});
    const auto report = try_publish(topology, std::move(request));
    for (const auto& one : report.each)
        ASSERT_EQ(one.status, spi::publish_status::ok) << one.cause.message();
}

spi::publish_report client::try_publish(const topology_ptr& topology, spi::publish_request request) {
    outcome_of<spi::publish_report> answer;
    driver_->publish(*topology, std::move(request), answer.callback());
    return answer.get();
}

std::shared_ptr<spi::subscription> client::subscribe(const topology_ptr& topology, std::size_t prefetch, bool dead) {
    outcome_of<result<std::shared_ptr<spi::subscription>>> answer;
    spi::source from{topology, dead, prefetch, "test"};
    if (topology->broadcast) from.broadcast.emplace();
    driver_->subscribe(std::move(from), answer.callback());
    return answer.get().value();
}

spi::queue_depth client::depth(std::string queue) {
    outcome_of<result<spi::queue_depth>> answer;
    driver_->depth(std::move(queue), answer.callback());
    return answer.get().value();
}

std::vector<spi::queue_info> client::queues() {
    outcome_of<result<std::vector<spi::queue_info>>> answer;
    driver_->admin()->list_queues(answer.callback());
    return answer.get().value();
}

std::vector<spi::browsed> client::browse(std::string queue, std::uint64_t after, std::size_t max) {
    outcome_of<result<std::vector<spi::browsed>>> answer;
    driver_->admin()->browse(std::move(queue), after, max, answer.callback());
    return answer.get().value();
}

std::size_t client::move(std::string from, std::string to, std::vector<spi::moved> items) {
    outcome_of<result<std::size_t>> answer;
    driver_->admin()->move(std::move(from), std::move(to), std::move(items), answer.callback());
    return answer.get().value();
}

std::size_t client::remove(std::string queue, std::vector<std::uint64_t> cursors) {
    outcome_of<result<std::size_t>> answer;
    driver_->admin()->remove(std::move(queue), std::move(cursors), answer.callback());
    return answer.get().value();
}

error client::close(milliseconds within) {
    outcome_of<error> answer;
    driver_->close(clock_->now() + within, answer.callback());
    return answer.get();
}

deliveries receive(spi::subscription& from, std::size_t max) {
    outcome_of<result<deliveries>> answer;
    from.receive(max, answer.callback());
    return answer.get().value();
}

deliveries receive_all(spi::subscription& from, std::size_t count) {
    deliveries all;
    while (all.size() < count) {
        for (auto& one : receive(from, count - all.size()))
            all.push_back(std::move(one));
    }
    return all;
}

std::vector<spi::failed_settlement> settle(spi::subscription& at, deliveries what, spi::settlement_kind kind,
                                           milliseconds delay) {
    std::vector<spi::settlement> batch;
    for (auto& one : what) {
        auto& made = batch.emplace_back();
        made.item = std::move(one);
        made.kind = kind;
        made.delay = delay;
    }
    outcome_of<std::vector<spi::failed_settlement>> answer;
    at.settle(std::move(batch), answer.callback());
    return answer.get();
}

std::vector<spi::failed_settlement> settle(spi::subscription& at, spi::delivery what, spi::settlement_kind kind,
                                           milliseconds delay) {
    deliveries one;
    one.push_back(std::move(what));
    return settle(at, std::move(one), kind, delay);
}

std::vector<std::uint64_t> extend(spi::subscription& at, std::vector<std::uint64_t> tags) {
    outcome_of<std::vector<std::uint64_t>> answer;
    at.extend(std::move(tags), answer.callback());
    return answer.get();
}

error isolate(spi::subscription& at, std::uint64_t tag) {
    outcome_of<error> answer;
    at.isolate(tag, answer.callback());
    return answer.get();
}

error close(spi::subscription& what) {
    outcome_of<error> answer;
    what.close(answer.callback());
    return answer.get();
}

void in_killed_child(unique_function<void()> body) {
    const auto child = ::fork();
    if (child == 0) {
        body();
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended early, status " << status;
}

int in_child(unique_function<int()> body) {
    const auto child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace shove::sqlite_test
