#pragma once

#include <shove/sqlite_leases.hpp>
#include <shove/testkit/backend_factory.hpp>
#include <shove/testkit/lease_contract.hpp>

#include <filesystem>
#include <utility>

namespace shove::testkit {

/// A lease store's file in a folder of its own.
class file_place final : public lease_place {
public:
    result<lease_broker> open(lease_options options) override {
        sqlite_lease_config config;
        config.path = file();
        // No case cuts the power.
        config.durability = sqlite::durability::normal;
        return open_sqlite_leases(config, std::move(options));
    }
    std::filesystem::path file() const { return folder_.path() / "leases.db"; }

private:
    scratch_folder folder_{"shove-leases"};
};

}  // namespace shove::testkit
