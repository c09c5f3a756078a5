#pragma once

#include <amqp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "connection.hpp"

namespace shove::rabbitmq_backend {

/// Puts the frames of a message together: method, header, body. What it gives points into the connection's buffers,
/// until those are forgotten.
class assembler {
public:
    /// A whole message.
    struct parts {
        const amqp_basic_properties_t* properties = nullptr;
        std::span<const std::byte> body;
        std::shared_ptr<const void> owner;  ///< Keeps the body, where it is kept; else it must be copied.
    };

    /// The header has come. True: it is whole, there is no body.
    bool header(const amqp_frame_t& what) {
        properties_ = static_cast<const amqp_basic_properties_t*>(what.payload.properties.decoded);
        size_ = static_cast<std::size_t>(what.payload.properties.body_size);
        have_ = {};
        gathered_.reset();
        return size_ == 0;
    }
    /// A piece of the body has come. True: it is whole.
    bool body(const amqp_frame_t& what) {
        const auto& piece = what.payload.body_fragment;
        const auto* from = static_cast<const std::byte*>(piece.bytes);
        if (!gathered_ && piece.len >= size_) {  // the usual case: all in one frame
            have_ = {from, size_};
            return true;
        }
        if (!gathered_) {
            gathered_ = std::make_shared<std::vector<std::byte>>();
            gathered_->reserve(std::min(size_, largest_promise));
        }
        const auto take = std::min(piece.len, size_ - gathered_->size());
        gathered_->insert(gathered_->end(), from, from + take);
        have_ = *gathered_;
        return gathered_->size() == size_;
    }
    parts take() {
        parts made{properties_, have_, std::exchange(gathered_, nullptr)};
        have_ = {};
        return made;
    }

private:
    /// A header may promise what never comes: more is not reserved at once.
    static constexpr std::size_t largest_promise = 1 << 20;

    const amqp_basic_properties_t* properties_ = nullptr;
    std::size_t size_ = 0;
    std::span<const std::byte> have_;
    std::shared_ptr<std::vector<std::byte>> gathered_;
};

}  // namespace shove::rabbitmq_backend
