#pragma once

#include "job.hpp"

#include <cstdint>
#include <vector>

namespace shove::sqlite_backend {

/// Takes back what dead owners held, and leases that nobody has renewed.
class recover_job final : public job {
public:
    recover_job(std::vector<std::int64_t> dead, bool expired) : dead_(std::move(dead)), expired_(expired) {}
    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error&) override {}

private:
    std::vector<std::int64_t> dead_;
    bool expired_;
};

}  // namespace shove::sqlite_backend
