#include "rabbitmq_factory.hpp"

#include <shove/shove.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// A queue that is there with other settings: what is said, and what to do about it.
namespace shove::testkit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class rabbitmq_mismatch : public testing::Test {
protected:
    /// What declaring says with that type of queues; empty: nothing.
    std::string declare(const std::string& queues, const shove::topology& topology) const {
        try {
            shove::broker<rabbitmq>(rabbitmq::parse(host_.url() + "?queues=" + queues).value())
                .declare(runtime_topic::make(topology).value());
            return {};
        } catch (const exception& e) {
            EXPECT_EQ(e.cause(), errc::topology_mismatch) << e.what();
            return e.cause().message();
        }
    }
    /// What the server makes of a declaration, as the Rust library has them: 201, it is new; 204, it was there.
    int put(const std::string& what, const std::string& name, const std::string& settings) const {
        const auto path = "/api/" + what + "/" + rabbitmq_test::percent_encoded(host_.name()) + "/" + name;
        return static_cast<int>(server_.call("PUT", path, "{\"durable\":true," + settings + "}").status);
    }
    void expect_the_crates(int status) const {
        const std::string dead = R"("x-dead-letter-exchange":"","x-dead-letter-routing-key":"orders-dlq")";
        EXPECT_EQ(put("queues", "orders-dlq", R"("arguments":{})"), status);
        EXPECT_EQ(put("queues", "orders", R"("arguments":{)" + dead + "}"), status);
        EXPECT_EQ(put("queues", "orders-hold-5s",
                      R"("arguments":{"x-message-ttl":5000,"x-dead-letter-exchange":"",)"
                      R"("x-dead-letter-routing-key":"orders"})"),
                  status);
        EXPECT_EQ(put("exchanges", "pays-seq-hash", R"("type":"x-consistent-hash")"), status);
        EXPECT_EQ(put("queues", "pays-seq-0",
                      R"("arguments":{"x-single-active-consumer":true,"x-dead-letter-exchange":"",)"
                      R"("x-dead-letter-routing-key":"pays-dlq"})"),
                  status);
        EXPECT_EQ(put("exchanges", "prices-fanout", R"("type":"fanout")"), status);
    }
    void declare_ours() const {
        EXPECT_EQ(declare("classic", orders_.hold(milliseconds(5'000)).dlq()), "");
        EXPECT_EQ(declare("classic", shove::topology("pays")
                                         .hold(milliseconds(5'000))
                                         .dlq()
                                         .sequenced(sequence_failure::skip)
                                         .routing_shards(1)),
                  "");
        EXPECT_EQ(declare("classic", shove::topology("prices").broadcast()), "");
    }
    rabbitmq_test::rabbitmq_server server_;
    rabbitmq_test::vhost host_{server_};
    const shove::topology orders_{"orders"};
};

TEST_F(rabbitmq_mismatch, of_dead_letters) {
    ASSERT_EQ(declare("classic", orders_.dlq()), "");
    EXPECT_THAT(declare("classic", orders_), AllOf(HasSubstr("'orders'"), HasSubstr("--dlq"), HasSubstr("dlq()")));
    EXPECT_THAT(declare("classic", orders_.dlq_named("graves")),
                AllOf(HasSubstr("'graves'"), HasSubstr("'orders-dlq'"), HasSubstr("dlq_named()")));
    EXPECT_EQ(declare("classic", orders_.dlq()), "");
}

TEST_F(rabbitmq_mismatch, of_types) {
    ASSERT_EQ(declare("classic", orders_.dlq()), "");
    EXPECT_THAT(declare("quorum", orders_.dlq()), HasSubstr("queues=classic"));
    ASSERT_EQ(declare("quorum", shove::topology("mails").dlq()), "");
    EXPECT_THAT(declare("classic", shove::topology("mails").dlq()), HasSubstr("queues"));
}

TEST_F(rabbitmq_mismatch, none_with_what_the_rust_library_has_declared) {
    expect_the_crates(201);
    declare_ours();
}

TEST_F(rabbitmq_mismatch, none_of_the_rust_library_with_what_is_ours) {
    declare_ours();
    expect_the_crates(204);
}

}  // namespace
}  // namespace shove::testkit
