#pragma once

#include <shove/publisher.hpp>

#include <memory>

namespace shove::detail {

/// Publishes a batch to a sequenced topic: each shard's part in one request, each once no earlier publish of one of its
/// keys is under way. Parts that were still held back at the timeout are `not_attempted`.
void publish_sequenced(const std::shared_ptr<broker_core>& core, prepared_batch batch,
                       unique_function<void(prepared_batch)> done);

}  // namespace shove::detail
