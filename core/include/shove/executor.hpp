#pragma once

#include <shove/detail/asio_forms.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace shove {

/// An Asio executor of the caller's, or none. Made from any executor (include <shove/async.hpp>).
class broker_executor {
public:
    broker_executor() = default;
    template <class Executor>
        requires(!std::same_as<Executor, broker_executor>)
    broker_executor(Executor executor)  // NOLINT(google-explicit-constructor): an option, given as it is
        : given_(std::make_shared<boost::asio::any_io_executor>(std::move(executor))) {}
    const std::shared_ptr<boost::asio::any_io_executor>& given() const noexcept { return given_; }

private:
    std::shared_ptr<boost::asio::any_io_executor> given_;
};

}  // namespace shove
