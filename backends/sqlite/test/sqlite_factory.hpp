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
    explicit sqlite_store(std::unique_ptr<scratch_folder> folder)
        : tagged_store<sqlite>(config_at(folder->path() / "queue.db"), (folder->path() / "queue.db").string()),
          folder_(std::move(folder)) {}

    static sqlite::config config_at(const std::filesystem::path& path) {
        sqlite::config made;
        made.path = path;
        return made;
    }

private:
    std::unique_ptr<scratch_folder> folder_;
};

/// What the suite needs to know of SQLite.
inline backend_factory sqlite_factory() {
    backend_factory made;
    made.name = "sqlite";
    made.capabilities = sqlite::capabilities;
    made.make_store = [] { return std::make_unique<sqlite_store>(std::make_unique<scratch_folder>("shove-sqlite")); };
    made.attach = [](const std::string& location) {
        return std::make_unique<tagged_store<sqlite>>(sqlite_store::config_at(location), location);
    };
    made.injected_clock = true;
    return made;
}

}  // namespace shove::testkit
