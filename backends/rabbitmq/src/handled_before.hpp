#pragma once

#include <shove/headers.hpp>

#include <amqp.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace shove::rabbitmq_backend {

/// Numbers for copies: a copy has the id of its original, and what is known of the one must not be taken for the
/// other's.
class copy_marks {
public:
    copy_marks();
    /// Of the copy at a place of a batch; not 0.
    std::int64_t of(std::size_t index) const noexcept;

private:
    std::uint64_t base_;
};

/// Written beside the copy of a message that may have been handled.
headers handled_before_note(std::int64_t mark);

/// The number of a copy; 0: it is none, or one of another library.
std::int64_t copy_mark(const amqp_basic_properties_t& properties) noexcept;
/// Stands for a message, or for one copy of it. Empty: it has no name.
std::string name_of_copy(const std::string& message_id, std::int64_t mark);

/// Whether a message is a copy of one that was handled: ours says so, the Rust library's has waited in a hold queue.
bool handled_before(const amqp_basic_properties_t& properties) noexcept;

}  // namespace shove::rabbitmq_backend
