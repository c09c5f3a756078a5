#include "rabbitmq_factory.hpp"

#include <shove/testkit/conformance.hpp>

// Settling in the broker's transactions. On quorum queues it is a long test.
SHOVE_CONFORMANCE(shove::testkit::rabbitmq_factory("rabbitmq_transactional", "classic&transactional=true"));

static const bool on_quorum_queues = shove::testkit::register_conformance(
    shove::testkit::rabbitmq_factory("quorum_transactional", "quorum&transactional=true"));
