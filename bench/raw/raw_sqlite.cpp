// The least that a durable insert costs: begin, insert rows of 100 bytes, commit, with WAL and synchronous FULL.
// `shove-bench-raw-sqlite FOLDER [COMMITS=300] [ROWS-PER-COMMIT=1]` prints one JSON line.
#include "process.hpp"

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

void check(sqlite3* db, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) throw std::runtime_error(sqlite3_errmsg(db));
}

database open(const std::filesystem::path& file) {
    sqlite3* raw = nullptr;
    const auto code = sqlite3_open(file.c_str(), &raw);
    database db(raw, &sqlite3_close);
    check(raw, code);
    check(raw, sqlite3_exec(raw,
                            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                            "CREATE TABLE m(id INTEGER PRIMARY KEY, body BLOB)",
                            nullptr, nullptr, nullptr));
    return db;
}

statement prepare(sqlite3* db, const char* text) {
    sqlite3_stmt* raw = nullptr;
    check(db, sqlite3_prepare_v2(db, text, -1, &raw, nullptr));
    return {raw, &sqlite3_finalize};
}

void run(sqlite3* db, const statement& what) {
    check(db, sqlite3_step(what.get()));
    sqlite3_reset(what.get());
}

double commit_loop(sqlite3* db, int commits, int rows) {
    const auto begin = prepare(db, "BEGIN IMMEDIATE");
    const auto insert = prepare(db, "INSERT INTO m(body) VALUES(zeroblob(100))");
    const auto commit = prepare(db, "COMMIT");
    const auto from = shove::bench::now_ns();
    for (int i = 0; i < commits; ++i) {
        run(db, begin);
        for (int r = 0; r < rows; ++r)
            run(db, insert);
        run(db, commit);
    }
    return static_cast<double>(shove::bench::now_ns() - from) / 1e9;
}

int measure(const std::filesystem::path& folder, int commits, int rows) {
    const auto file = folder / ("raw-" + std::to_string(shove::bench::now_ns()) + ".db");
    double elapsed = 0;
    {
        const auto db = open(file);
        elapsed = commit_loop(db.get(), commits, rows);
    }
    for (const char* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(file.native() + suffix);
    std::printf(
        "{\"impl\":\"raw\",\"case\":\"sqlite\",\"rows_per_commit\":%d,\"commits_per_s\":%.0f,\"msgs_per_s\":%.0f}\n",
        rows, commits / elapsed, commits * rows / elapsed);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return measure(argc > 1 ? argv[1] : ".", argc > 2 ? std::atoi(argv[2]) : 300,
                       argc > 3 ? std::atoi(argv[3]) : 1);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return EXIT_FAILURE;
    }
}
