// Where keys go: recorded from Java's client (murmur2) and from the zlib CRC32 that the Rust crate's client places by.
// Who publishes to a topic of ours from elsewhere, and we to theirs, must agree on these.

#include <librdkafka/rdkafka.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace shove::kafka_test {

namespace {

using placing = decltype(&rd_kafka_msg_partitioner_consistent);

std::int32_t place(placing by, std::string_view key, std::int32_t partitions) {
    return by(nullptr, key.data(), key.size(), partitions, nullptr, nullptr);
}

struct vector {
    std::string_view key;
    std::uint32_t hash;  ///< What is taken modulo the number of partitions.
};

// org.apache.kafka.common.utils.Utils.murmur2 of 3.9.2, & 0x7fffffff as BuiltInPartitioner does.
constexpr vector murmur2[] = {
    {"a", 584102524U},
    {"ab", 316155434U},
    {"abc", 479470107U},
    {"abcd", 823834100U},
    {"abcde", 461995741U},
    {"order-1", 1221710326U},
    {"order-2", 1091984643U},
    {"customer/42", 1161936151U},
    {"0123456789abcdef", 1438427052U},
    {"the quick brown fox jumps over the lazy dog", 1257416968U},
};

// zlib.crc32 of Python 3.
constexpr vector crc32[] = {
    {"a", 3904355907U},
    {"ab", 2659403885U},
    {"abc", 891568578U},
    {"abcd", 3984772369U},
    {"abcde", 2240272485U},
    {"order-1", 3769860079U},
    {"order-2", 2042244693U},
    {"customer/42", 1249475707U},
    {"0123456789abcdef", 1757737011U},
    {"the quick brown fox jumps over the lazy dog", 3456913684U},
};

TEST(placement_test, murmur2_is_javas) {
    for (const auto& [key, hash] : murmur2) {
        for (const std::int32_t partitions : {1, 2, 8, 12, 1000})
            EXPECT_EQ(place(rd_kafka_msg_partitioner_murmur2, key, partitions),
                      static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(partitions)))
                << key;
    }
}

TEST(placement_test, crc32_is_zlibs) {
    for (const auto& [key, hash] : crc32) {
        for (const std::int32_t partitions : {1, 2, 8, 12, 1000})
            EXPECT_EQ(place(rd_kafka_msg_partitioner_consistent, key, partitions),
                      static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(partitions)))
                << key;
    }
}

}  // namespace

}  // namespace shove::kafka_test
