// expect: for_consumer_group\(\) got a blank name
#include <shove/topic.hpp>

#include <string>

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders").for_consumer_group("audit");
#else
    static constexpr auto topology = shove::topology("orders").for_consumer_group(" ");
#endif
};

template struct shove::detail::checked_topic<orders>;
