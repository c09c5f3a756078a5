#pragma once

#include "lease_store.hpp"
#include "task_queue.hpp"

#include <shove/clock.hpp>
#include <shove/lease_options.hpp>

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace shove::sqlite_backend::lease {

/// A receive that found nothing and has time.
struct waiting_receive {
    lease_request what;
    steady_time until;
    spi::lease_port::answer<std::vector<leased>> done;
};
/// They are added and ended on the worker's thread only.
using waiting_list = std::list<waiting_receive>;

/// All work on one open file, on one thread: takes every task that waits, carries them out in one transaction together
/// with the receives that wait, commits once, then answers everybody.
class worker {
public:
    struct parts {
        std::shared_ptr<task_queue> inbox;
        std::shared_ptr<waiting_list> waiting;
        std::shared_ptr<clock> time;
        lease_retention retention;
        milliseconds poll{20};
    };
    worker(std::unique_ptr<lease_store> file, parts with);

    /// Works until the queue is shut and empty.
    void run();

private:
    /// Whom a transaction served; they are told once it is committed.
    struct ended_wait {
        waiting_list::iterator who;
        result<std::vector<leased>> with;
    };
    using served_list = std::vector<ended_wait>;

    bool look_around();
    void work(task_list tasks, bool hopeful);
    void write(task_list tasks, bool hopeful);
    void write_each(task_list& tasks);
    void serve_each();
    void read(const task_list& tasks);
    /// Applies all, serves if anybody should hope, and commits; else nothing has happened.
    bool transact(const task_list& tasks, bool hopeful, bool serving, served_list& into);
    void serve(waiting_list::iterator who, served_list& into);
    void tell(served_list all);
    void retire();
    void arm();

    std::unique_ptr<lease_store> file_;
    const parts with_;
    error failure_;       ///< Of the last transaction,
    bool begun_ = false;  ///< which could be begun.
    std::optional<steady_time> next_change_;
    steady_time next_retirement_ = steady_time::max();
    clock::timer_id timer_ = 0;
    std::optional<steady_time> rings_at_;
};

}  // namespace shove::sqlite_backend::lease
