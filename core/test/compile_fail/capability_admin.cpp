// expect: constraints not satisfied
#include "bare_backend.hpp"

void use(const shove::broker<chosen>& broker) {
    (void)broker.admin();
}
