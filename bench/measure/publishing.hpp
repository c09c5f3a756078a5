#pragma once

#include "plan.hpp"

#include <shove/broker.hpp>

namespace shove::bench {

/// Publishes the plan's corpus from `plan::publishers` threads; returns when all of it is confirmed.
/// @par Errors  What a publish throws.
void publish_corpus(const any_broker& to, const plan& what);

/// Publishes the message that proves that consumers are attached.
void publish_probe(const any_broker& to);

}  // namespace shove::bench
