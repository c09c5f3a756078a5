// expect: please_include_shove_async_hpp
#include "bare_backend.hpp"

#include <shove/publisher.hpp>
#ifdef FIXED
#include <shove/async.hpp>
#endif

void use(const shove::publisher<bare>& publisher) {
    publisher.async_publish<notes>("text", {}, [](shove::error_code, const shove::receipt&) {});
}
