// Sealed records: byte for byte the reference's, and nothing else than what was sealed ever comes out.

#include "lease/keyed_fingerprint.hpp"
#include "lease/profile_probe.hpp"
#include "lease/sealed_record.hpp"
#include "lease/sealing_sealer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace shove::sqlite_backend::lease {

namespace {

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

// Made by another program and read by the reference: spec, durable broker, section 14.
const std::string vector_clear = std::string("\0\0\0\x18", 4) + R"({"tenant-hint":"opaque"}{"id":42})";
const auto vector_blob = from_hex(
    "524c4d5347444231056b65792d31000102030405060708090a0b4702d603bec7b67ee320f9ff9c811103f7f4bd169f0b3e0d4d02"
    "c7f8664b69d6232a9aced292e936494973b0142aca9b70caebbd18");
constexpr record_identity vector_place{.name_space = "vec",
                                       .topic = "events",
                                       .sequence = 1,
                                       .id = "msg_0123456789abcdef0123456789abcdef",
                                       .event_kind = "event.created",
                                       .content_type = "application/json",
                                       .published_at_ms = 1735689600123};

storage_key key_of(std::string id, unsigned first) {
    std::array<std::byte, storage_key::secret_bytes> secret{};
    for (std::size_t i = 0; i < secret.size(); ++i)
        secret[i] = static_cast<std::byte>(first + i);
    return storage_key::make(std::move(id), secret).value();
}
keyring ring(std::vector<storage_key> keys) {
    return keyring::make(std::move(keys)).value();
}
keyring vector_ring() {
    return ring({key_of("key-1", 0)});
}

bool counting_up(std::span<unsigned char> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<unsigned char>(i);
    return true;
}

TEST(sealing_test, is_the_references_byte_for_byte) {
    EXPECT_EQ(seal_record(vector_ring(), vector_place, vector_clear, counting_up).value(), vector_blob);
    EXPECT_EQ(open_record(vector_ring(), vector_place, vector_blob).value(), vector_clear);
    EXPECT_EQ(sealed_by(vector_blob), "key-1");
}

TEST(sealing_test, every_changed_bit_is_noticed) {
    const auto keys = vector_ring();
    for (std::size_t bit = 0; bit < vector_blob.size() * 8; ++bit) {
        auto changed = vector_blob;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        const auto opened = open_record(keys, vector_place, changed);
        ASSERT_FALSE(opened) << bit;
        // A changed id, or length of it, may name a key that we lack.
        const bool of_the_id = bit / 8 >= 8 && bit / 8 < 14 && !sealed_by(changed).empty();
        EXPECT_EQ(opened.error(), of_the_id ? errc::key_unavailable : errc::authentication_failed) << bit;
    }
}

TEST(sealing_test, every_prefix_and_a_byte_more_are_refused) {
    const auto keys = vector_ring();
    for (std::size_t size = 0; size < vector_blob.size(); ++size)
        EXPECT_EQ(open_record(keys, vector_place, vector_blob.substr(0, size)).error(), errc::authentication_failed)
            << size;
    EXPECT_EQ(open_record(keys, vector_place, vector_blob + '\0').error(), errc::authentication_failed);
}

TEST(sealing_test, a_blob_opens_only_in_its_place) {
    const auto keys = vector_ring();
    std::vector<record_identity> others(7, vector_place);
    others[0].name_space = "ved";
    others[1].topic = "event";
    others[2].sequence = 2;
    others[3].id = "msg_0123456789abcdef0123456789abcdee";
    others[4].event_kind = "event.create";
    others[5].content_type = "application/jsom";
    others[6].published_at_ms = 1735689600124;
    for (const auto& place : others)
        EXPECT_EQ(open_record(keys, place, vector_blob).error(), errc::authentication_failed);
}

TEST(sealing_test, tells_a_missing_key_from_a_wrong_one) {
    const auto missing = open_record(ring({key_of("key-2", 0)}), vector_place, vector_blob);
    EXPECT_EQ(missing.error(), errc::key_unavailable);
    EXPECT_NE(missing.error().message().find("'key-1'"), std::string::npos) << missing.error().message();
    EXPECT_EQ(open_record(ring({key_of("key-1", 1)}), vector_place, vector_blob).error(), errc::authentication_failed);
}

TEST(sealing_test, the_first_key_seals_and_all_open) {
    const auto both = ring({key_of("key-2", 7), key_of("key-1", 0)});
    EXPECT_TRUE(open_record(both, vector_place, vector_blob));
    const auto blob = seal_record(both, vector_place, "", system_random()).value();
    EXPECT_EQ(sealed_by(blob), "key-2");
    EXPECT_EQ(open_record(both, vector_place, blob).value(), "");
}

TEST(sealing_test, without_randomness_nothing_is_sealed) {
    const auto none = [](std::span<unsigned char>) { return false; };
    EXPECT_EQ(seal_record(vector_ring(), vector_place, "x", none).error(), errc::randomness_unavailable);
    EXPECT_EQ(fingerprint_key::make(none).error(), errc::randomness_unavailable);
}

TEST(sealing_test, nonces_do_not_repeat) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i)
        seen.insert(seal_record(vector_ring(), vector_place, "", system_random()).value().substr(14, nonce_bytes));
    EXPECT_EQ(seen.size(), 1000u);
}

TEST(profile_probe_test, tells_whether_the_keys_are_the_stores) {
    const auto probe = seal_probe(vector_ring(), "ns", system_random()).value();
    EXPECT_FALSE(check_probe(vector_ring(), "ns", probe));
    EXPECT_EQ(check_probe(vector_ring(), "other", probe), errc::authentication_failed);
    EXPECT_EQ(check_probe(ring({key_of("key-1", 1)}), "ns", probe), errc::authentication_failed);
    EXPECT_EQ(check_probe(ring({key_of("key-2", 0)}), "ns", probe), errc::key_unavailable);
    auto flipped = probe;
    flipped.back() = static_cast<char>(flipped.back() ^ 1);
    EXPECT_EQ(check_probe(vector_ring(), "ns", flipped), errc::authentication_failed);
}

TEST(fingerprint_key_test, survives_a_rotation_and_stays_comparable) {
    const auto old_ring = vector_ring();
    const auto key = fingerprint_key::make(system_random()).value();
    const spi::fingerprint plain{std::byte{1}, std::byte{2}};
    const auto before = key.of(plain).value();
    const auto blob = key.seal(old_ring, "ns", system_random()).value();

    const auto rotated = ring({key_of("key-2", 9), key_of("key-1", 0)});
    const auto again = fingerprint_key::open(rotated, "ns", blob).value();
    const auto resealed = again.seal(rotated, "ns", system_random()).value();
    EXPECT_EQ(sealed_by(resealed), "key-2");
    const auto only_new = ring({key_of("key-2", 9)});
    EXPECT_EQ(fingerprint_key::open(only_new, "ns", resealed).value().of(plain).value(), before);
    EXPECT_EQ(fingerprint_key::open(only_new, "ns", blob).error(), errc::key_unavailable);

    EXPECT_NE(fingerprint_key::make(system_random()).value().of(plain).value(), before) << "each file has its own";
    EXPECT_FALSE(std::equal(plain.begin(), plain.end(), before.begin()));
}

// RFC 4231 has no case with a key of 32 bytes; this one was made with Python's hmac.
TEST(fingerprint_key_test, is_hmac_sha_256) {
    const auto key = fingerprint_key::make(counting_up).value();
    spi::fingerprint plain{};
    for (std::size_t i = 0; i < plain.size(); ++i)
        plain[i] = static_cast<std::byte>(i);
    const auto made = key.of(plain).value();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(made.data()), made.size()),
              from_hex("e8499be4f1980d68f13222a418df5cbd97d53fddf590c2108e22d40005b70713"));
}

TEST(fingerprint_key_test, neither_passes_for_the_other) {
    const auto keys = vector_ring();
    const auto probe = seal_probe(keys, "ns", system_random()).value();
    EXPECT_EQ(fingerprint_key::open(keys, "ns", probe).error(), errc::authentication_failed);
    const auto key = fingerprint_key::make(system_random()).value().seal(keys, "ns", system_random()).value();
    EXPECT_EQ(check_probe(keys, "ns", key), errc::authentication_failed);
    EXPECT_EQ(fingerprint_key::open(keys, "other", key).error(), errc::authentication_failed);
}

TEST(sealing_sealer_test, a_new_namespace_opens_again_and_only_with_its_keys) {
    const auto made = make_sealing_sealer(vector_ring(), "ns", system_random());
    const auto state = made->attach({}, {}).value();
    EXPECT_EQ(state.profile, "aes-256-gcm-v1");
    const auto row = made->seal(vector_place, "clear").value();
    EXPECT_EQ(row.key, "key-1");
    EXPECT_EQ(row.blob.find("clear"), std::string::npos);

    const auto again = make_sealing_sealer(vector_ring(), "ns", system_random());
    EXPECT_EQ(again->attach(state, {}).value(), state) << "nothing to write";
    EXPECT_EQ(again->open(vector_place, row.blob).value(), "clear");
    EXPECT_EQ(again->fingerprint({}).value(), made->fingerprint({}).value());

    const auto attach_with = [&](keyring keys) {
        return make_sealing_sealer(std::move(keys), "ns", system_random())->attach(state, {}).error();
    };
    EXPECT_EQ(attach_with(ring({key_of("key-1", 1)})), errc::authentication_failed);
    EXPECT_EQ(attach_with(ring({key_of("key-2", 0)})), errc::key_unavailable);
    const auto plain = make_sealing_sealer(vector_ring(), "ns", system_random());
    EXPECT_EQ(plain->attach(sealer_state{.profile = "plaintext-v1"}, {}).error(), errc::configuration_conflict);
    EXPECT_EQ(make_plain_sealer()->attach(state, {}).error(), errc::configuration_conflict);
}

TEST(sealing_sealer_test, a_rotation_seals_the_profile_anew) {
    const auto before = make_sealing_sealer(vector_ring(), "ns", system_random());
    const auto state = before->attach({}, {}).value();
    const auto row = before->seal(vector_place, "clear").value();
    const sealed_sample sample{vector_place, row.blob};

    const auto both = make_sealing_sealer(ring({key_of("key-2", 5), key_of("key-1", 0)}), "ns", system_random());
    const auto rotated = both->attach(state, std::span(&sample, 1)).value();
    EXPECT_EQ(sealed_by(rotated.probe), "key-2");
    EXPECT_EQ(sealed_by(rotated.fingerprint_key), "key-2");
    EXPECT_EQ(both->fingerprint({}).value(), before->fingerprint({}).value());

    const auto only_new = [] { return make_sealing_sealer(ring({key_of("key-2", 5)}), "ns", system_random()); };
    EXPECT_EQ(only_new()->attach(rotated, std::span(&sample, 1)).error(), errc::key_unavailable) << "a row needs it";
    EXPECT_TRUE(only_new()->attach(rotated, {})) << "none does";
    const auto wrong = make_sealing_sealer(ring({key_of("key-2", 5), key_of("key-1", 1)}), "ns", system_random());
    EXPECT_EQ(wrong->attach(rotated, std::span(&sample, 1)).error(), errc::authentication_failed);
}

RC_GTEST_PROP(sealing_test, what_is_sealed_comes_out,
              (const std::string& clear, const std::string& topic, std::int64_t sequence)) {
    const auto keys = vector_ring();
    auto of = vector_place;
    of.topic = topic;
    of.sequence = sequence;
    const auto blob = seal_record(keys, of, clear, system_random()).value();
    RC_ASSERT(open_record(keys, of, blob).value() == clear);
}

RC_GTEST_PROP(sealing_test, any_bytes_are_refused, (const std::string& bytes)) {
    RC_ASSERT(!open_record(vector_ring(), vector_place, bytes));
    RC_ASSERT(!open_record(vector_ring(), vector_place, vector_blob.substr(0, 14) + bytes));
}

}  // namespace

}  // namespace shove::sqlite_backend::lease
