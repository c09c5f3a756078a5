#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::testkit {

/// A broker of the tests is not there, or does not do what it is told.
class broker_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A real broker that `tools/brokers.sh` has started for the tests. `tools/test.sh` does so before it runs them; by
/// hand it is `tools/brokers.sh up NAME`.
/// @par Thread safety  Distinct objects: safe, as far as they do not contradict each other.
class real_broker {
public:
    /// @param name  as the script knows it, e.g. `rabbitmq-faults`
    explicit real_broker(std::string name) : name_(std::move(name)) {}

    const std::string& name() const noexcept { return name_; }
    /// An address: that of `SHOVE_TEST_<NAME>`, or of `SHOVE_TEST_<NAME>_<OF>`.
    /// @par Errors  `broker_error` that says how to start the broker.
    std::string address(std::string_view of = {}) const;
    /// `tools/brokers.sh COMMAND NAME ARGUMENTS...`; waits for its end, gives its output without the last newline.
    /// @par Errors  `broker_error` with what it said.
    std::string control(std::string_view command, const std::vector<std::string>& arguments = {}) const;

    /// SIGKILL.
    void kill() const { control("kill"); }
    /// Starts it unless it runs; returns when it serves.
    void up() const { control("up"); }
    /// SIGSTOP: its connections stay open, and nothing answers.
    void pause() const { control("pause"); }
    void resume() const { control("resume"); }
    /// Brings it to order, whatever an earlier test did to it.
    void restore() const { control("restore"); }

private:
    std::string name_;
};

/// Another variable that `tools/brokers.sh env` prints: `SHOVE_TEST_<WHAT>`, e.g. of `CA`, `CLIENT_CERTIFICATE`.
/// @par Errors  `broker_error`, if it is not set.
std::string broker_setting(std::string_view what);

}  // namespace shove::testkit
