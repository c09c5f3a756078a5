// expect: topic T is a broadcast, and backend B has none
#include "bare_backend.hpp"

struct news : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("news").broadcast();
};

void use(const shove::publisher<chosen>& publisher) {
    publisher.publish<news>("a text");
}
