#pragma once

#include <shove/detail/unique_function.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <utility>

namespace shove::detail {

/// A function that completes an operation as Asio demands: on the handler's associated executor (else on
/// `fallback`), which is told that work is outstanding until then.
template <class... Args>
unique_function<void(Args...)> completion_on(const boost::asio::any_io_executor& fallback,
                                             boost::asio::any_completion_handler<void(Args...)> handler) {
    namespace asio = boost::asio;
    auto executor = asio::get_associated_executor(handler, asio::any_completion_executor(fallback));
    auto working = asio::prefer(executor, asio::execution::outstanding_work.tracked);
    return [fallback, handler = std::move(handler), working = std::move(working)](Args... args) mutable {
        // Posted, never inline: the operation may complete within its own initiation.
        asio::post(fallback, asio::append(std::move(handler), std::move(args)...));
        working = asio::any_completion_executor();
    };
}

}  // namespace shove::detail
