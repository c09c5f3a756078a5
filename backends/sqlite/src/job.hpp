#pragma once

#include "claims.hpp"
#include "store.hpp"

#include <shove/error.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace shove::sqlite_backend {

class attendance;

/// What jobs work on: the open file, and who waits for messages.
struct workplace {
    store& file;
    claims& claiming;
    attendance& readers;
};

/// One operation on its way through the writer.
///
/// Several share a transaction. `apply` may therefore run again, after a failure of another job has
/// rolled the transaction back: it must not use up what it needs. `finish` runs once, after the
/// commit or the failure, with no lock held.
class job {
public:
    virtual ~job() = default;
    /// Makes its changes; a failure is noted in the file's database.
    virtual void apply(workplace& at) = 0;
    /// The changes are stored, or, with a cause, were not made (`maybe`: may have been made).
    virtual void finish(workplace& at, const error& cause, bool maybe) = 0;
    /// Ends the job outside the writer, from any thread: the driver was closed, or has no room.
    virtual void refuse(const error& cause) = 0;
    /// Must be on the disk before it is confirmed.
    virtual bool durable() const noexcept { return true; }
    /// False: only the writer's memory is concerned; `apply` is not called.
    virtual bool writes() const noexcept { return true; }
    virtual std::size_t messages() const noexcept { return 0; }
    virtual std::size_t bytes() const noexcept { return 0; }
};

using job_list = std::vector<std::unique_ptr<job>>;

}  // namespace shove::sqlite_backend
