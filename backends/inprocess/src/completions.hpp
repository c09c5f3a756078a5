#pragma once

#include "receiver.hpp"
#include "store.hpp"

#include <boost/container/small_vector.hpp>

#include <utility>

namespace shove::in_memory {

/// Callbacks that became due under a queue's lock, to be called once it is gone. After that the
/// queue must not be touched: a callback may have ended it.
class completions {
public:
    void add(receive_done done, receive_result what) { receives_.emplace_back(std::move(done), std::move(what)); }
    void add(store_waiter waiter, errc cause) { stores_.emplace_back(std::move(waiter), cause); }

    void run() {
        for (auto& [done, what] : receives_)
            done(std::move(what));
        for (auto& [waiter, cause] : stores_)
            waiter.done(cause, std::move(waiter.batch));
    }

private:
    boost::container::small_vector<std::pair<receive_done, receive_result>, 1> receives_;
    std::vector<std::pair<store_waiter, errc>> stores_;
};

}  // namespace shove::in_memory
