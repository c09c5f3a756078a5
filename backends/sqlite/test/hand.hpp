#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace shove::testkit {

/// Another connection to a file, for what only a hand on the file can do.
class hand {
public:
    explicit hand(const std::filesystem::path& file) {
        if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("cannot open the file");
        sqlite3_busy_timeout(db_, 10'000);
    }
    hand(const hand&) = delete;
    hand& operator=(const hand&) = delete;
    ~hand() { sqlite3_close(db_); }
    void run(const std::string& sql) {
        char* text = nullptr;
        const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &text);
        const std::string why = text ? text : "";
        sqlite3_free(text);
        if (code != SQLITE_OK) throw std::runtime_error(sql + ": " + why);
    }
    std::string text(const std::string& sql) {
        std::string found;
        const auto take = [](void* into, int, char** values, char**) {
            *static_cast<std::string*>(into) += values[0] ? values[0] : "";
            return 0;
        };
        sqlite3_exec(db_, sql.c_str(), take, &found, nullptr);
        return found;
    }

private:
    sqlite3* db_ = nullptr;
};

}  // namespace shove::testkit
