// What is particular to a sealed file: what it shows, whose keys open it, what an altered row does, and rotation.

#include "hand.hpp"
#include "lease_place.hpp"

#include <shove/sqlite_store.hpp>
#include <shove/testkit/manual_clock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

storage_key key_of(std::string id, unsigned char fill) {
    std::array<std::byte, storage_key::secret_bytes> secret{};
    secret.fill(std::byte{fill});
    return storage_key::make(std::move(id), secret).value();
}
keyring ring(std::vector<storage_key> keys) {
    return keyring::make(std::move(keys)).value();
}
keyring first_ring() {
    return ring({key_of("key-1", 1)});
}

class sealed_place final : public lease_place {
public:
    result<lease_broker> open(lease_options options) override { return open_with(first_ring(), std::move(options)); }
    result<lease_broker> open_with(std::optional<keyring> keys, lease_options options = {}) const {
        sqlite_lease_config config;
        config.path = file();
        config.durability = sqlite::durability::normal;  // no case cuts the power
        config.keys = std::move(keys);
        return open_sqlite_leases(config, std::move(options));
    }
    std::filesystem::path file() const { return folder_.path() / "leases.db"; }

private:
    scratch_folder folder_{"shove-sealed-leases"};
};

SHOVE_LEASE_CONTRACT((lease_factory{"sqlite_sealed", [] { return std::make_unique<sealed_place>(); }, true}));

class lease_sealed : public testing::Test {
protected:
    static lease_message message_of(const std::string& key, const std::string& payload = "SECRET-body") {
        lease_message made{
            .topic = "events", .event_kind = "event.created", .idempotency_key = key, .payload = payload};
        made.headers.add("secret-name", "SECRET-value");
        return made;
    }
    static lease_request request() { return {"events", "mailers", "worker-1", 10, 30s, 0ms}; }

    /// Opens, with a group, and publishes so many.
    void with(int messages) {
        const auto broker = place_.open_with(first_ring()).value();
        broker.subscribe("events", "mailers", lease_start::kind::earliest).value();
        for (int i = 0; i < messages; ++i)
            broker.publish(message_of(std::to_string(i))).value();
        broker.close();
    }
    errc error_of_opening(std::optional<keyring> keys) const {
        const auto opened = place_.open_with(std::move(keys));
        return opened ? errc::ok : static_cast<errc>(opened.error().code.value());
    }
    std::string bytes_of_file() const {
        std::string all;
        for (const auto* suffix : {"", "-wal"}) {
            std::ifstream in(place_.file().string() + suffix, std::ios::binary);
            all.append(std::istreambuf_iterator<char>(in), {});
        }
        return all;
    }

    sealed_place place_;
};

TEST_F(lease_sealed, the_file_shows_neither_payload_nor_header) {
    const auto broker = place_.open_with(first_ring()).value();
    broker.subscribe("events", "mailers", {}).value();
    broker.publish(message_of("k")).value();
    const auto bytes = bytes_of_file();
    EXPECT_NE(bytes.find("event.created"), bytes.npos) << "it is looked at in the right place";
    EXPECT_EQ(bytes.find("SECRET"), bytes.npos);
    EXPECT_EQ(bytes.find("secret-name"), bytes.npos);
    EXPECT_EQ(hand(place_.file()).text("SELECT seal FROM lease_message"), "key-1");
}

/// The fingerprint of a plain store is the SHA-256 that anybody can compute; this one is not.
TEST_F(lease_sealed, equal_content_in_two_files_has_two_fingerprints) {
    with(1);
    sealed_place other;
    other.open_with(first_ring()).value().publish(message_of("0")).value();
    const std::string fingerprint = "SELECT hex(fingerprint) FROM lease_message";
    EXPECT_NE(hand(place_.file()).text(fingerprint), hand(other.file()).text(fingerprint));
}

TEST_F(lease_sealed, only_its_keys_open_it_and_nothing_is_changed_by_others) {
    with(2);
    const auto state = [&] {
        return hand(place_.file()).text("SELECT quote(probe), quote(fingerprint_key) FROM lease_space");
    };
    const auto before = state();
    EXPECT_EQ(error_of_opening(ring({key_of("key-1", 2)})), errc::authentication_failed);
    EXPECT_EQ(error_of_opening(ring({key_of("key-2", 1)})), errc::key_unavailable);
    EXPECT_EQ(error_of_opening(std::nullopt), errc::configuration_conflict);
    EXPECT_EQ(state(), before);
    EXPECT_EQ(place_.open_with(first_ring()).value().receive(request()).value().size(), 2U);
}

TEST_F(lease_sealed, a_plain_file_is_not_sealed_later) {
    place_.open_with(std::nullopt).value().publish(message_of("k")).value();
    EXPECT_EQ(error_of_opening(first_ring()), errc::configuration_conflict);
    EXPECT_EQ(error_of_opening(std::nullopt), errc::ok);
}

TEST_F(lease_sealed, a_flipped_bit_of_the_probe_is_refused) {
    with(0);
    hand(place_.file())
        .run("UPDATE lease_space SET probe = CAST(substr(probe, 1, length(probe) - 1) || x'00' AS BLOB)");
    EXPECT_EQ(error_of_opening(first_ring()), errc::authentication_failed);
}

/// What is altered gives the specified error, takes no claim, and is delivered once it is repaired.
TEST_F(lease_sealed, altered_rows_are_refused_whole) {
    with(2);
    const std::vector<std::string> alterations{
        "UPDATE lease_message SET content = (SELECT content FROM lease_message AS other WHERE other.seq <> "
        "lease_message.seq)",
        "UPDATE lease_message SET content = substr(content, 1, 40)",
        "UPDATE lease_message SET content = x''",
        "UPDATE lease_message SET event_kind = 'event.creatEd'",
        "UPDATE lease_message SET published_at_ms = published_at_ms + 1",
    };
    for (const auto& alteration : alterations) {
        hand by(place_.file());
        by.run("CREATE TABLE kept AS SELECT * FROM lease_message");
        by.run(alteration);
        const auto broker = place_.open_with(first_ring());
        const auto got = broker ? broker->receive(request()).error() : broker.error();
        EXPECT_EQ(got, errc::authentication_failed) << alteration << ": " << got.message();
        EXPECT_EQ(got.message().find("SECRET"), std::string::npos);
        EXPECT_EQ(by.text("SELECT count(*) FROM lease_delivery"), "0") << alteration;
        by.run("DELETE FROM lease_message");
        by.run("INSERT INTO lease_message SELECT * FROM kept");
        by.run("DROP TABLE kept");
    }
    EXPECT_EQ(place_.open_with(first_ring()).value().receive(request()).value().size(), 2U);
}

TEST_F(lease_sealed, a_key_goes_once_nothing_is_sealed_by_it) {
    with(3);
    const auto both = [] { return ring({key_of("key-2", 2), key_of("key-1", 1)}); };
    const auto only_new = [] { return ring({key_of("key-2", 2)}); };
    place_.open_with(both()).value().publish(message_of("new")).value();
    EXPECT_EQ(error_of_opening(only_new()), errc::key_unavailable) << "three rows need the old one";
    EXPECT_EQ(error_of_opening(ring({key_of("key-2", 2), key_of("key-1", 9)})), errc::authentication_failed);

    std::uint64_t told = 0;
    const auto report = rekey_sqlite_store(place_.file(), both(), [&](std::uint64_t so_far) { told = so_far; }).value();
    EXPECT_EQ(report.name_spaces, 1U);
    EXPECT_EQ(report.records, 3U);
    EXPECT_EQ(told, 3U);
    const auto broker = place_.open_with(only_new()).value();
    EXPECT_TRUE(broker.publish(message_of("0")).value().duplicate) << "old fingerprints still compare";
    EXPECT_EQ(broker.publish(message_of("1", "other")).error(), errc::idempotency_conflict);
    const auto got = broker.receive(request()).value();
    ASSERT_EQ(got.size(), 4U);
    EXPECT_EQ(got[0].envelope->payload, "SECRET-body");
    EXPECT_EQ(got[0].envelope->headers.view().text("secret-name"), "SECRET-value");
    EXPECT_EQ(rekey_sqlite_store(place_.file(), only_new()).value().records, 0U);
    EXPECT_TRUE(check_sqlite_store(place_.file()).value().problems.empty());
}

/// Several steps, several topics and namespaces, keys whose names have other lengths; a plain namespace is passed over.
TEST_F(lease_sealed, rekeying_takes_steps_through_all_topics) {
    lease_options plain;
    plain.name_space = "plain";
    place_.open_with(std::nullopt, plain).value().publish(message_of("p")).value();
    const auto broker = place_.open_with(first_ring()).value();
    for (const std::string topic : {"a", "b", "c"}) {
        std::vector<lease_message> many;
        for (int i = 0; i < 450; ++i) {
            many.push_back(message_of(std::to_string(i)));
            many.back().topic = topic;
        }
        for (const auto& each : broker.publish_batch(std::move(many)).value())
            each.value();
    }
    const auto longer = ring({key_of("a-longer-name", 3), key_of("key-1", 1)});
    std::vector<std::uint64_t> steps;
    const auto report =
        rekey_sqlite_store(place_.file(), longer, [&](auto so_far) { steps.push_back(so_far); }).value();
    EXPECT_EQ(report.name_spaces, 1U);
    EXPECT_EQ(report.records, 1350U);
    EXPECT_GE(steps.size(), 7U);
    EXPECT_EQ(hand(place_.file()).text("SELECT count(*) FROM lease_message WHERE seal = 'a-longer-name'"), "1350");
    const auto found = check_sqlite_store(place_.file()).value();
    EXPECT_TRUE(found.problems.empty()) << found.problems.front();
    EXPECT_EQ(hand(place_.file()).text("SELECT seal FROM lease_message WHERE key = 'p'"), "");
}

/// Publishers and readers go on while all is sealed anew, with both keys in their rings.
TEST_F(lease_sealed, rekeying_under_load_loses_nothing) {
    with(0);
    const auto both = ring({key_of("key-2", 2), key_of("key-1", 1)});
    const auto old_first = place_.open_with(ring({key_of("key-1", 1), key_of("key-2", 2)})).value();
    constexpr int messages = 1000;
    std::size_t got = 0;
    {
        const std::jthread publishing([&] {
            for (int i = 0; i < messages; ++i)
                old_first.publish(message_of(std::to_string(i))).value();
        });
        const std::jthread reading([&] {
            const auto broker = place_.open_with(both).value();
            while (got < messages) {
                const auto some = broker.receive({"events", "mailers", "r", 50, 30s, 5s}).value();
                ASSERT_FALSE(some.empty()) << "nothing for 5 s";
                got += some.size();
            }
        });
        for (int i = 0; i < 5; ++i)
            EXPECT_TRUE(rekey_sqlite_store(place_.file(), both));
    }
    EXPECT_EQ(got, static_cast<std::size_t>(messages));
    rekey_sqlite_store(place_.file(), both).value();
    EXPECT_EQ(error_of_opening(ring({key_of("key-2", 2)})), errc::ok);
}

}  // namespace
}  // namespace shove::testkit
