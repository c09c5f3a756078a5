#pragma once

#include <shove/sqlite.hpp>
#include <shove/testkit/backend_factory.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace shove::testkit {

/// A database file in a folder of its own.
class sqlite_store final : public tagged_store<sqlite> {
public:
    sqlite_store(std::unique_ptr<scratch_folder> folder, sqlite::durability how)
        : tagged_store<sqlite>(config_at(folder->path() / "queue.db", how), (folder->path() / "queue.db").string()),
          folder_(std::move(folder)) {}

    static sqlite::config config_at(const std::filesystem::path& path, sqlite::durability how) {
        sqlite::config made;
        made.path = path;
        made.durability = how;
        return made;
    }

private:
    std::unique_ptr<scratch_folder> folder_;
};

/// What the suite needs to know of SQLite.
inline backend_factory sqlite_factory(sqlite::durability how = sqlite::durability::full) {
    backend_factory made;
    made.name = "sqlite";
    made.capabilities = sqlite::capabilities;
    made.make_store = [how] {
        return std::make_unique<sqlite_store>(std::make_unique<scratch_folder>("shove-sqlite"), how);
    };
    made.attach = [how](const std::string& location) {
        return std::make_unique<tagged_store<sqlite>>(sqlite_store::config_at(location, how), location);
    };
    made.injected_clock = true;
    return made;
}

}  // namespace shove::testkit
