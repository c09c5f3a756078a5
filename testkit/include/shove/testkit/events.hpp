#pragma once

#include <shove/clock.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Waiting for things to happen, always with a deadline: what takes the place of sleeps in tests.
namespace shove::testkit {

/// How long a test waits for something that should happen. Far more than it ever takes on a busy
/// machine; `SHOVE_TEST_PATIENCE_S` overrides the 20 seconds.
milliseconds patience();

/// An event did not come. Thrown out of a test, so that it fails with this text.
class impatience : public std::runtime_error {
public:
    explicit impatience(std::string_view what) : std::runtime_error("gave up waiting: " + std::string(what)) {}
};

/// Polls a condition that has no event of its own (a counter of the library, a queue's depth).
/// Throws `impatience` after `limit`.
/// @param what  Said in the error.
void eventually(std::string_view what, const std::function<bool()>& condition, milliseconds limit = patience());

/// What holds only once `holds` was seen to for so long. (real time: what is not seen cannot be waited for)
template <class Condition>
auto lasting(std::chrono::milliseconds time, Condition holds) {
    return [time, holds = std::move(holds), since = std::optional<std::chrono::steady_clock::time_point>()]() mutable {
        if (!holds()) {
            since.reset();
            return false;
        }
        const auto now = std::chrono::steady_clock::now();
        if (!since) since = now;
        return now - *since >= time;
    };
}

/// Waits until the machine's steady clock shows `when`: for tests whose matter is time itself.
void until(steady_time when);

/// Counts up; waiting is for a count. Copies share the count, so that a handler may keep one.
/// @par Thread safety  All members may be called from several threads.
class counter {
public:
    counter();
    /// Adds to the count; gives the new one.
    std::size_t add(std::size_t n = 1) const;
    std::size_t value() const;
    /// Waits until the count is `n` or more. False: `limit` passed.
    [[nodiscard]] bool reached(std::size_t n, milliseconds limit = patience()) const;
    /// As `reached`; throws `impatience` with `what`.
    void wait(std::size_t n, std::string_view what, milliseconds limit = patience()) const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Holds callers until it is opened, and stays open. Copies share it.
/// @par Thread safety  All members may be called from several threads.
class gate {
public:
    void open() const { opened_.add(); }
    bool is_open() const { return opened_.value() > 0; }
    /// Waits until it is open. False: `limit` passed.
    bool pass(milliseconds limit = patience()) const { return opened_.reached(1, limit); }
    /// Counts the caller, then holds it.
    bool arrive(milliseconds limit = patience()) const {
        arrivals_.add();
        return pass(limit);
    }
    /// How many have arrived so far.
    const counter& arrivals() const { return arrivals_; }

private:
    counter opened_;
    counter arrivals_;
};

/// Opens a gate when a test leaves its scope, also by a failure: then no handler stays behind it.
class opens_at_exit {
public:
    explicit opens_at_exit(gate which) noexcept : gate_(std::move(which)) {}
    opens_at_exit(const opens_at_exit&) = delete;
    opens_at_exit& operator=(const opens_at_exit&) = delete;
    ~opens_at_exit() { gate_.open(); }

private:
    gate gate_;
};

/// Lets callers go on once `n` of them are there: proof that they run at the same time.
/// @par Thread safety  All members may be called from several threads.
class meeting {
public:
    explicit meeting(std::size_t n) noexcept : n_(n) {}
    /// Counts the caller, then waits for the others. False: they did not come.
    bool join(milliseconds limit = patience()) const {
        there_.add();
        return there_.reached(n_, limit);
    }
    std::size_t present() const { return there_.value(); }

private:
    std::size_t n_;
    counter there_;
};

/// How many are inside at once, and the most there ever were.
/// @par Thread safety  All members may be called from several threads.
class crowd {
public:
    /// Counts the caller as inside until the returned object goes.
    std::shared_ptr<void> enter() const;
    std::size_t most() const;

private:
    struct state;
    static std::shared_ptr<state> make();
    std::shared_ptr<state> state_ = make();
};

/// Collects values from other threads; waiting is for a number of them. Copies share the values.
/// @par Thread safety  All members may be called from several threads.
template <class T>
class recorder {
public:
    /// Adds a value; gives how many there are now.
    std::size_t add(T value) const {
        {
            const std::lock_guard lock(kept_->mutex);
            kept_->values.push_back(std::move(value));
        }
        return count_.add();
    }
    std::size_t size() const { return count_.value(); }
    /// All values so far.
    std::vector<T> all() const {
        const std::lock_guard lock(kept_->mutex);
        return kept_->values;
    }
    /// Waits for `n` values; gives all. Throws `impatience` with `what`.
    std::vector<T> wait(std::size_t n, std::string_view what, milliseconds limit = patience()) const {
        count_.wait(n, what, limit);
        return all();
    }

private:
    struct kept {
        std::mutex mutex;
        std::vector<T> values;
    };
    std::shared_ptr<kept> kept_ = std::make_shared<kept>();
    counter count_;
};

}  // namespace shove::testkit
