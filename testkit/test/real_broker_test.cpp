#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <shove/testkit/backend_factory.hpp>
#include <shove/testkit/real_broker.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

namespace {

using shove::testkit::broker_error;
using shove::testkit::broker_setting;
using shove::testkit::real_broker;
using shove::testkit::scratch_folder;
using testing::HasSubstr;
using testing::Not;

/// A script in the place of `tools/brokers.sh`.
class real_broker_test : public testing::Test {
protected:
    void use_script(const std::string& body) {
        const auto path = folder_.path() / "script";
        std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
        ::chmod(path.c_str(), 0700);
        ::setenv("SHOVE_TEST_BROKERS", path.c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("SHOVE_TEST_BROKERS");
        ::unsetenv("SHOVE_TEST_OF_MINE_TLS");
    }

private:
    scratch_folder folder_{"shove-real-broker"};
};

std::string text_of_error(const std::function<void()>& what) {
    try {
        what();
        return "no error";
    } catch (const broker_error& e) {
        return e.what();
    }
}

TEST_F(real_broker_test, says_how_to_start_what_is_not_there) {
    ::unsetenv("SHOVE_TEST_BROKERS");
    const real_broker absent("absent-one");
    for (const auto& text : {text_of_error([&] { absent.address(); }), text_of_error([&] { absent.kill(); })})
        EXPECT_THAT(text, HasSubstr("tools/brokers.sh up absent-one"));
    EXPECT_THAT(text_of_error([&] { absent.address(); }), HasSubstr("no SHOVE_TEST_ABSENT_ONE)"));
}

TEST_F(real_broker_test, has_the_addresses_of_the_environment) {
    ::setenv("SHOVE_TEST_OF_MINE_TLS", "amqps://here", 1);
    EXPECT_EQ(real_broker("of-mine").address("tls"), "amqps://here");
}

TEST_F(real_broker_test, passes_commands_on) {
    use_script("echo \"$@\"; echo; echo");
    EXPECT_EQ(real_broker("mine").control("alarm", {"set", "two words"}), "alarm mine set two words");
}

TEST_F(real_broker_test, passes_errors_on) {
    use_script("echo 'it will not' >&2; exit 3");
    EXPECT_THAT(text_of_error([] { real_broker("mine").kill(); }), HasSubstr("kill mine: it will not"));
}

TEST_F(real_broker_test, keeps_open_files_to_itself) {
    use_script("ls -l /proc/self/fd");
    const scratch_folder other("shove-open");
    const std::ofstream held(other.path() / "held");
    EXPECT_THAT(real_broker("mine").control("look"), Not(HasSubstr("held")));
}

TEST_F(real_broker_test, the_script_knows_addresses_too) {
    use_script("echo 'export SHOVE_TEST_SCRIPTED=amqp://there'; echo 'export SHOVE_TEST_WHERE=a\\ b'");
    EXPECT_EQ(real_broker("scripted").address(), "amqp://there");
    EXPECT_EQ(broker_setting("WHERE"), "a b");
}

}  // namespace
