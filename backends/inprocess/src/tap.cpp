#include "tap.hpp"

namespace shove::in_memory {

tap::~tap() {
    if (!queue_) return;
    end();
    queue_->close();
}

bool tap::open() {
    queue_ = core_->make_queue(broadcast_.name(), weak_from_this());
    return broadcast_.feed(*queue_) == errc::ok;
}

void tap::end() {
    broadcast_.stop_feeding(*queue_);
}

}  // namespace shove::in_memory
