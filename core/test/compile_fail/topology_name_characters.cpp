// expect: printable ASCII without spaces
#include <shove/topic.hpp>

#include <string>

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("my-orders");
#else
    static constexpr auto topology = shove::topology("my orders");
#endif
};

template struct shove::detail::checked_topic<orders>;
