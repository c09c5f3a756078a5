#pragma once

#include "receiver.hpp"
#include "store.hpp"

#include <boost/container/small_vector.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace shove::in_memory {

/// Callbacks that became due under a queue's lock, to be called once it is gone. After that the
/// queue must not be touched: a callback may have ended it.
class completions {
public:
    void add(receive_done done, receive_result what) { all().receives.emplace_back(std::move(done), std::move(what)); }
    void add(store_waiter waiter, errc cause) { all().stores.emplace_back(std::move(waiter), cause); }

    void run() {
        if (!lists_) return;
        for (auto& [done, what] : lists_->receives)
            done(std::move(what));
        for (auto& [waiter, cause] : lists_->stores)
            waiter.done(cause, std::move(waiter.batch));
    }

private:
    struct lists {
        boost::container::small_vector<std::pair<receive_done, receive_result>, 1> receives;
        std::vector<std::pair<store_waiter, errc>> stores;
    };
    lists& all() { return lists_ ? *lists_ : lists_.emplace(); }

    std::optional<lists> lists_;  // most calls complete nothing but themselves
};

}  // namespace shove::in_memory
