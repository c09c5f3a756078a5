#pragma once

#include <shove/clock.hpp>

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace shove::cli {

/// Does something on a thread of its own and waits for it no longer than `deadline`. Nothing: it is still being done;
/// then the process must end without destroying what it uses. Throws what `work` throws.
template <class Work>
auto within(milliseconds deadline, Work work) -> std::optional<decltype(work())> {
    const auto answer = std::make_shared<std::promise<decltype(work())>>();
    auto arrives = answer->get_future();
    std::thread([answer, work = std::move(work)]() mutable {
        try {
            answer->set_value(work());
        } catch (...) {
            answer->set_exception(std::current_exception());
        }
    }).detach();
    if (arrives.wait_for(deadline) != std::future_status::ready) return std::nullopt;
    return arrives.get();
}

}  // namespace shove::cli
