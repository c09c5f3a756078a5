// expect: add_dead<T>: topic T has no dead-letter queue; give it .dlq\(\)
#include "bare_backend.hpp"

struct lossy : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("lossy").dlq();
#else
    static constexpr auto topology = shove::topology("lossy");
#endif
};

void use(shove::consumer_group<bare>& group) {
    group.add_dead<lossy>([](const shove::dead_letter<std::string>&) { return shove::ack; });
}
