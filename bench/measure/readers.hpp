#pragma once

#include "board.hpp"
#include "plan.hpp"

#include <shove/broker.hpp>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace shove::bench {

/// The consumers of a run: one group on a thread that drains it in the end.
class readers {
public:
    readers(const any_broker& of, const plan& how, board& notes);
    ~readers();
    readers(const readers&) = delete;
    readers& operator=(const readers&) = delete;

    /// Starts the group. If it ends by itself, the board's `finished` is set.
    void start();
    /// Drains; gives what went wrong, in words.
    std::vector<std::string> stop();

private:
    void run();

    board& notes_;
    consumer_group<any_backend> group_;
    std::stop_source stopping_;
    std::vector<std::string> failures_;
    std::thread runner_;
};

}  // namespace shove::bench
