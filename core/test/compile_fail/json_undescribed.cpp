// expect: this type has no JSON form; describe it with BOOST_DESCRIBE_STRUCT
#include <shove/shove.hpp>

#include <boost/describe.hpp>

#include <string>

struct order_paid {
    std::string order_id;
    double amount = 0;
};
#ifdef FIXED
BOOST_DESCRIBE_STRUCT(order_paid, (), (order_id, amount))
#endif

struct orders : shove::topic<order_paid> {
    static constexpr auto topology = shove::topology("orders").dlq();
};

void use(const shove::publisher<shove::any_backend>& publisher) {
    publisher.publish<orders>({"ORD-1", 12.5});
}
