#pragma once

#include <shove/broker.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::testkit {

/// One place where a backend keeps messages: a file, a server's virtual host, a name prefix. It holds no
/// message at first. A case opens brokers on it; its destructor clears it away.
class backend_store {
public:
    virtual ~backend_store() = default;
    /// Connects once more to this store. Throws `exception`.
    virtual std::shared_ptr<spi::driver> connect(const spi::driver_context& context) = 0;
    /// Opens one more broker on this store.
    virtual any_broker open(broker_options options);
    /// What another process gives to `backend_factory::attach` to reach this store; empty: it cannot.
    virtual std::string location() const { return {}; }
};

/// All that the conformance suite needs to know of a backend.
struct backend_factory {
    /// The first part of each test's name; a C identifier.
    std::string name;
    spi::capabilities capabilities;
    /// Makes an empty store.
    std::function<std::unique_ptr<backend_store>()> make_store;
    /// Opens a store made by another process. Needed with `capabilities::several_processes`.
    std::function<std::unique_ptr<backend_store>(const std::string& location)> attach{};
    /// Makes an empty store whose queues hold only so many messages; null: queues are not bounded.
    std::function<std::unique_ptr<backend_store>(std::size_t capacity)> make_bounded_store{};
    /// Restarts the broker behind a store while clients are connected; null: there is none to restart.
    std::function<void(backend_store&)> restart_broker{};
    /// A message that the broker moves from queue to queue, or gives back, may be in no count for so long.
    std::chrono::milliseconds unseen{0};
    /// `queue_depth::oldest_age` is always told.
    bool tells_age = true;
    /// Delays and leases follow `broker_options::clock`.
    bool injected_clock = false;
    /// Passwords and tokens of its stores' configurations, of four bytes or more. The suite fails where one is told.
    std::vector<std::string> secrets{};
};

/// A store that is opened through a backend's tag with one configuration.
template <spi::backend B>
class tagged_store : public backend_store {
public:
    explicit tagged_store(typename B::config config, std::string location = {})
        : config_(std::move(config)), location_(std::move(location)) {}
    std::shared_ptr<spi::driver> connect(const spi::driver_context& context) override {
        return B::open(config_, context).value();
    }
    std::string location() const override { return location_; }

private:
    typename B::config config_;
    std::string location_;
};

/// A fresh folder for temporary files, removed by the destructor.
class scratch_folder {
public:
    explicit scratch_folder(std::string_view stem);
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder();
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace shove::testkit
