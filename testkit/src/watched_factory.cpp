#include "watched.hpp"

namespace shove::testkit {
namespace {

using store_ptr = std::unique_ptr<backend_store>;
using watch_ptr = std::shared_ptr<leak_watch>;

/// A store whose brokers are watched.
class watched_store final : public backend_store {
public:
    watched_store(store_ptr store, watch_ptr watch) : store_(std::move(store)), watch_(std::move(watch)) {}
    std::shared_ptr<spi::driver> connect(const spi::driver_context& context) override {
        return watched(store_->connect(context), watch_);
    }
    any_broker open(broker_options options) override {
        return backend_store::open(watched(std::move(options), watch_));
    }
    std::string location() const override { return store_->location(); }
    backend_store& inner() noexcept { return *store_; }

private:
    store_ptr store_;
    watch_ptr watch_;
};

/// The same way to get a store, watched; null stays null.
template <class... Args>
std::function<store_ptr(Args...)> watched_maker(std::function<store_ptr(Args...)> make, const watch_ptr& watch) {
    if (!make) return {};
    return
        [make = std::move(make), watch](Args... args) { return std::make_unique<watched_store>(make(args...), watch); };
}

}  // namespace

backend_factory watched(const backend_factory& factory, const watch_ptr& watch) {
    auto made = factory;
    for (const auto& each : factory.secrets)
        watch->keep(each);
    made.make_store = watched_maker(factory.make_store, watch);
    made.make_bounded_store = watched_maker(factory.make_bounded_store, watch);
    made.attach = watched_maker(factory.attach, watch);
    if (factory.restart_broker) {
        made.restart_broker = [restart = factory.restart_broker](backend_store& store) {
            restart(dynamic_cast<watched_store&>(store).inner());
        };
    }
    return made;
}

}  // namespace shove::testkit
