#include "recover_job.hpp"

#include "attendance.hpp"

namespace shove::sqlite_backend {

void recover_job::apply(workplace& at) {
    for (const auto owner : dead_)
        at.file.recovery.bury(owner);
    if (!dead_.empty()) at.file.queues.forget_feeds();
    if (expired_) at.file.recovery.take_expired(at.file.steady_us());
}

void recover_job::finish(workplace& at, const error&, bool) {
    // After a failure the next look finds them again.
    at.file.owners.forget();
    at.readers.hope_all();
}

}  // namespace shove::sqlite_backend
