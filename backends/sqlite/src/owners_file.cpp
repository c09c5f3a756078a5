#include "owners_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace shove::sqlite_backend {

namespace {

struct flock byte_lock(short kind, std::int64_t byte) {
    struct flock lock {};
    lock.l_type = kind;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return lock;
}

error cannot_open(const std::string& path, int cause) {
    std::string text = "cannot open '" + path + "': " + std::generic_category().message(cause);
    if (cause == EACCES || cause == EROFS || cause == EPERM) {
        return {errc::storage_read_only, text + "; make the folder writable for this user"};
    }
    if (cause == ENOSPC || cause == EDQUOT) return {errc::storage_full, text + "; free space, then try again"};
    return {errc::not_connected, text + "; check that the folder exists"};
}

}  // namespace

result<owners_file> owners_file::open(const std::filesystem::path& database) {
    const auto path = database.string() + "-owners";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return cannot_open(path, errno);
    return owners_file(descriptor);
}

owners_file::owners_file(owners_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

owners_file& owners_file::operator=(owners_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

owners_file::~owners_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool owners_file::lock(std::int64_t owner) noexcept {
    auto wanted = byte_lock(F_WRLCK, owner);
    return ::fcntl(descriptor_, F_OFD_SETLK, &wanted) == 0;
}

void owners_file::unlock(std::int64_t owner) noexcept {
    auto wanted = byte_lock(F_UNLCK, owner);
    ::fcntl(descriptor_, F_OFD_SETLK, &wanted);
}

bool owners_file::is_alive(std::int64_t owner) const noexcept {
    auto wanted = byte_lock(F_WRLCK, owner);
    if (::fcntl(descriptor_, F_OFD_GETLK, &wanted) != 0) return true;
    return wanted.l_type != F_UNLCK;
}

std::string current_boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

}  // namespace shove::sqlite_backend
