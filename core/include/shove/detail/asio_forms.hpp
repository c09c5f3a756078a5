#pragma once

// What the public headers say of Asio without including it: its headers would cost every user a second of
// compile time, and only the `async_` forms and coroutine handlers need them. Those include <shove/async.hpp>.

#include <memory>
#include <type_traits>

namespace boost::asio {

class any_io_executor;
template <typename... Signatures>
class any_completion_handler;
template <typename T, typename Executor>
class awaitable;

}  // namespace boost::asio

namespace shove::detail {

class handler_base;

/// Starts an operation and gives what its completion token makes of it. Defined in <shove/async.hpp>; its name is
/// what a compiler says where that is not included.
template <class Signature, class Token, class Operation, class... Args>
auto please_include_shove_async_hpp(Operation operation, std::type_identity_t<Token>& token, Args... args);

/// Makes a handler of a coroutine. Defined in <shove/async.hpp>, like the above.
template <class T, bool Dead, class H>
auto coroutine_needs_include_shove_async_hpp(H handler);
template <class T, class H>
auto batch_coroutine_needs_include_shove_async_hpp(H handler);

}  // namespace shove::detail
