#pragma once

#include "database.hpp"

#include <string>
#include <vector>

/// What SQLite means to do for the statements that a connection has prepared.
namespace shove::sqlite_test {

using sqlite_backend::database;
using sqlite_backend::statement;

inline std::vector<std::string> statements_of(database& db) {
    std::vector<std::string> found;
    for (auto* s = sqlite3_next_stmt(db.handle(), nullptr); s != nullptr; s = sqlite3_next_stmt(db.handle(), s)) {
        found.emplace_back(sqlite3_sql(s));
    }
    return found;
}

/// The lines of the plan that read a table from end to end, or sort.
inline std::string costly_steps(database& db, const std::string& sql) {
    std::string costly;
    statement plan(db, "EXPLAIN QUERY PLAN " + sql);
    auto rows = plan.query();
    while (rows.next()) {
        const std::string line(rows.text(3));
        const bool scans = line.find("SCAN") != line.npos && line.find("(subquery") == line.npos;
        if (scans || line.find("TEMP B-TREE") != line.npos) costly += line + "; ";
    }
    return costly;
}

}  // namespace shove::sqlite_test
