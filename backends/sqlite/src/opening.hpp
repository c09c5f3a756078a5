#pragma once

#include "database.hpp"
#include "owners_file.hpp"

#include <cstdint>
#include <memory>

namespace shove::sqlite_backend {

/// A store's file, its schema up to date. While `locks` holds `owners_file::opening`, nobody else opens it.
struct open_store_file {
    owners_file locks;
    std::unique_ptr<database> connection;
};

/// Opens, creates or migrates the file; the caller gives the lock back, or lets it go with `locks`.
result<open_store_file> open_file(database::options how, bool full_durability, std::int64_t now_us);

}  // namespace shove::sqlite_backend
