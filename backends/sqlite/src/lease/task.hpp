#pragma once

#include "lease_store.hpp"

#include <shove/error.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace shove::sqlite_backend::lease {

/// One operation on its way through the worker. Several share a transaction, so `apply` may run again after another
/// one's failure: it must not use up what it needs. `finish` runs once, with no lock held.
class task {
public:
    /// What a task is to the worker.
    struct nature {
        bool writes = true;
        bool durable = true;       ///< Must be on the disk before it is answered.
        bool may_wake = false;     ///< Waiting receives may find something afterwards.
        std::size_t messages = 0;  ///< That it carries in,
        std::size_t bytes = 0;     ///< and their bytes.
    };

    explicit task(nature what) noexcept : nature_(what) {}
    virtual ~task() = default;
    virtual void apply(lease_store& in) = 0;
    /// @param cause  Set: what was applied was not stored.
    virtual void finish(const error& cause) = 0;
    const nature& what() const noexcept { return nature_; }

private:
    nature nature_;
};

using task_list = std::vector<std::unique_ptr<task>>;

/// A task that calls `Work(lease_store&) -> result<T>`.
template <class T, class Work>
class answering_task final : public task {
public:
    answering_task(nature what, Work work, spi::lease_port::answer<T> done)
        : task(what), work_(std::move(work)), done_(std::move(done)) {}
    void apply(lease_store& in) override { made_ = work_(in); }
    void finish(const error& cause) override {
        if (cause) return done_(cause);
        done_(std::move(made_));
    }

private:
    Work work_;
    spi::lease_port::answer<T> done_;
    result<T> made_{error(errc::internal)};
};

template <class T, class Work>
std::unique_ptr<task> make_task(task::nature what, Work work, spi::lease_port::answer<T> done) {
    return std::make_unique<answering_task<T, Work>>(what, std::move(work), std::move(done));
}

}  // namespace shove::sqlite_backend::lease
