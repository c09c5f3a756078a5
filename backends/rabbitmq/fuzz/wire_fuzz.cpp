#include <amqp.h>
#include <amqp_framing.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "field.hpp"
#include "pool.hpp"
#include "wire_in.hpp"
#include "wire_out.hpp"

// Any bytes are read as the properties of a message, once by the client library, and turned into a message. Checked
// beside memory safety: a message can always be read; its copy can be written, with the size foreseen; and the copy of
// the copy is the same as the copy.
namespace {

using namespace shove::rabbitmq_backend;

void check(bool ok) {
    if (!ok) std::abort();
}

const amqp_basic_properties_t* decoded(const std::string& bytes, pool& memory) {
    void* into = nullptr;
    if (amqp_decode_properties(AMQP_BASIC_CLASS, memory.get(), bytes_of(bytes), &into) != AMQP_STATUS_OK)
        return nullptr;
    return static_cast<const amqp_basic_properties_t*>(into);
}

/// The properties of a copy, as bytes; empty: they do not fit into a frame.
std::string copied(const incoming& from) {
    properties_writer writer;
    const auto made = writer.write(from.msg, from.past.get(), {.room = content_header_room(131'072), .user = "guest"});
    if (!made) {
        check(made.error() == shove::errc::too_large);
        return {};
    }
    std::string bytes(content_header_size(**made) - 12, '\0');
    auto copy = **made;
    check(amqp_encode_properties(AMQP_BASIC_CLASS, &copy, bytes_of(bytes)) == static_cast<int>(bytes.size()));
    return bytes;
}

void check_copies(const amqp_basic_properties_t& properties, bool dead) {
    const arrival how{"hash", "key", "hash", dead};
    const auto first = copied(read_message(properties, {}, how));
    if (first.empty()) return;
    pool memory;
    const auto* again = decoded(first, memory);
    check(again != nullptr);
    const auto second = copied(read_message(*again, {}, how));
    pool more;
    const auto* last = second.empty() ? nullptr : decoded(second, more);
    check(last != nullptr);
    check(copied(read_message(*last, {}, how)) == second);
    if (!dead) check(second == first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 100'000) return 0;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    pool memory;
    const auto* properties = decoded(bytes, memory);
    if (properties == nullptr) return 0;
    check_copies(*properties, false);
    check_copies(*properties, true);
    return 0;
}
