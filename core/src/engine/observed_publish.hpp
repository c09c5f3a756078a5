#pragma once

#include <shove/detail/unique_function.hpp>
#include <shove/publisher.hpp>

#include <memory>
#include <optional>

namespace shove::detail {

class broker_core;

/// The headers of a message that carry its trace; nothing: they are those of its options. Begins the span of the batch
/// with its first message. Messages that were given another trace than the first keep their own.
std::optional<headers> traced_headers(const broker_core& core, prepared_batch& into, const topic_info& topic,
                                      const publish_options& options);

/// Measures and traces a publish, where its broker asks for it. To be called before the publish starts; gives what is
/// to be called at its end in place of `done`.
unique_function<void(prepared_batch)> observed(const std::shared_ptr<broker_core>& core, prepared_batch& batch,
                                               unique_function<void(prepared_batch)> done);

}  // namespace shove::detail
