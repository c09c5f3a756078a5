// expect: publish_in
#include "bare_backend.hpp"

void use(const shove::publisher<chosen>& publisher) {
    publisher.publish_in<notes>(std::chrono::seconds(1), "a text");
}
