#include "target.hpp"

#include "process.hpp"

#include <unistd.h>

#include <string_view>

namespace shove::bench {
namespace {

constexpr std::string_view memory_scheme = "memory:";
constexpr std::string_view sqlite_scheme = "sqlite:";

std::string with_capacity(const plan& of) {
    if (of.url.find("capacity=") != std::string::npos) return of.url;
    const char* joint = of.url.find('?') == std::string::npos ? "?" : "&";
    return of.url + joint + "capacity=" + std::to_string(of.room());
}

/// A name that no other run has.
std::string own_name() {
    return "bench-" + std::to_string(getpid()) + "-" + std::to_string(now_ns());
}

}  // namespace

target::target(const plan& of) : url_(of.url) {
    if (url_.starts_with(memory_scheme)) {
        private_ = true;
        url_ = with_capacity(of);
    } else if (url_.starts_with(sqlite_scheme)) {
        const auto options = std::min(url_.find('?'), url_.size());
        url_.insert(options, "." + own_name());
        std::string_view path = url_;
        path = path.substr(0, path.find('?'));
        path.remove_prefix(sqlite_scheme.size());
        if (path.starts_with("//")) path.remove_prefix(2);
        file_ = path;
    } else {
        queue_ = "shove-" + own_name();
    }
}

target::~target() {
    if (file_.empty()) return;
    for (const char* suffix : {"", "-wal", "-shm", "-owners"}) {
        std::error_code ignored;
        std::filesystem::remove(file_.native() + suffix, ignored);
    }
}

}  // namespace shove::bench
