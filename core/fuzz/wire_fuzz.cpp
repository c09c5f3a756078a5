#include <shove/wire_envelope.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

// Any bytes as a wire envelope. Checked beside memory safety: what decodes comes back the same after encoding, and is
// within the limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const shove::wire_limits& limits :
         {shove::wire_limits{.name_space = "wire"}, shove::wire_limits{.name_space = "ns", .payload_bytes = 2}}) {
        const auto read = shove::decode_wire(bytes, limits);
        if (!read) continue;
        if (read->payload.size() > limits.payload_bytes || read->name_space != limits.name_space) std::abort();
        const auto again = shove::encode_wire(*read, limits);
        if (!again || *again != bytes) std::abort();
    }
    return 0;
}
