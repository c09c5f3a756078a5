// Which texts and files are keys, and that none of them is shown.

#include <shove/storage_key.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <unistd.h>
#include <array>
#include <filesystem>
#include <fstream>

namespace shove::sqlite_test {

namespace {

const std::string hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const std::string base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

TEST(storage_key_test, reads_hexadecimal_and_base64) {
    const auto a = storage_key::parse("k-1:" + hex).value();
    const auto b = storage_key::parse("k-1:" + base64).value();
    EXPECT_EQ(a.id(), "k-1");
    for (std::size_t i = 0; i < storage_key::secret_bytes; ++i) {
        EXPECT_EQ(a.secret()[i], static_cast<std::byte>(i));
        EXPECT_EQ(b.secret()[i], static_cast<std::byte>(i));
    }
}

TEST(storage_key_test, refuses_what_is_no_key_and_shows_no_secret) {
    auto unpadded = base64;
    unpadded.back() = 'A';
    auto more_bits = base64;
    more_bits[42] = '9';  // the last digit's two spare bits set
    for (const auto& text :
         {std::string(), "k" + hex, "k:" + hex.substr(2), "k:" + hex + "00", "k:" + hex.substr(1) + "g", ":" + hex,
          "a b:" + hex, std::string(65, 'k') + ":" + hex, "k:" + unpadded, "k:" + more_bits, hex + ":k"}) {
        const auto key = storage_key::parse(text);
        ASSERT_FALSE(key) << text;
        EXPECT_EQ(key.error(), errc::invalid_argument);
        EXPECT_EQ(key.error().message().find(hex.substr(8, 16)), std::string::npos) << key.error().message();
        EXPECT_EQ(key.error().message().find(base64.substr(8, 16)), std::string::npos) << key.error().message();
    }
    EXPECT_TRUE(storage_key::parse(std::string(64, 'k') + ":" + hex));
}

TEST(storage_key_test, a_secret_has_32_bytes) {
    const std::array<std::byte, 33> bytes{};
    EXPECT_FALSE(storage_key::make("k", std::span(bytes).first(31)));
    EXPECT_TRUE(storage_key::make("k", std::span(bytes).first(32)));
    EXPECT_FALSE(storage_key::make("k", bytes));
}

TEST(keyring_test, has_one_to_eight_keys_with_names_of_their_own) {
    EXPECT_EQ(keyring::parse("").error(), errc::invalid_argument);
    EXPECT_EQ(keyring::parse("a:" + hex + "\nb:" + hex + "\na:" + hex).error(), errc::invalid_argument);
    std::string lines = "# ours\r\n\n";
    for (int i = 1; i <= 8; ++i)
        lines += "  k" + std::to_string(i) + ":" + hex + " \r\n";
    const auto eight = keyring::parse(lines).value();
    EXPECT_EQ(eight.keys().size(), 8u);
    EXPECT_EQ(eight.primary().id(), "k1");
    ASSERT_NE(eight.find("k8"), nullptr);
    EXPECT_EQ(eight.find("k9"), nullptr);
    const auto nine = keyring::parse(lines + "k9:" + hex);
    EXPECT_EQ(nine.error(), errc::invalid_argument);
    EXPECT_NE(nine.error().message().find("line 11"), std::string::npos) << nine.error().message();
}

TEST(keyring_test, a_file_is_for_its_owner_alone) {
    namespace fs = std::filesystem;
    const auto file = fs::temp_directory_path() / ("shove-keyring-" + std::to_string(::getpid()));
    std::ofstream(file) << "k:" << hex << "\n";
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    const auto open_to_others = keyring::read(file);
    EXPECT_EQ(open_to_others.error(), errc::invalid_argument);
    EXPECT_NE(open_to_others.error().message().find("chmod 600"), std::string::npos);
    fs::permissions(file, fs::perms::owner_read);
    EXPECT_EQ(keyring::read(file).value().primary().id(), "k");
    fs::remove(file);
    EXPECT_EQ(keyring::read(file).error(), errc::invalid_argument);
    EXPECT_EQ(keyring::read(fs::temp_directory_path()).error(), errc::invalid_argument);
}

RC_GTEST_PROP(storage_key_test, any_text_is_a_key_or_an_error, (const std::string& text)) {
    const auto key = storage_key::parse("k:" + text);
    RC_ASSERT(key.has_value() == (text.size() == 44 || text.size() == 64) || !key.has_value());
}

}  // namespace

}  // namespace shove::sqlite_test
